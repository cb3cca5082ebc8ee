"""Asks the server as any program does that uses OpenAI's client.

    pip install openai
    python examples/text-generation/client.py http://localhost:8080/v1
"""

import sys

import openai

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


def main() -> None:
    client = openai.OpenAI(base_url=sys.argv[1], api_key="none is asked for", max_retries=0)
    whole = client.chat.completions.create(model="small", messages=QUESTION)
    print(whole.choices[0].message.content)

    stream = client.chat.completions.create(
        model="small", messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        if chunk.usage:
            assert chunk.usage == whole.usage, f"found {chunk.usage} and {whole.usage}, expected the same"
        else:
            print(chunk.choices[0].delta.content or "", end="", flush=True)
    print()

    prompt = "In the beginning"
    completion = client.completions.create(model="small", prompt=prompt, max_tokens=16, stop=["\n"])
    print(prompt + completion.choices[0].text)

    try:
        client.chat.completions.create(model="small", messages=QUESTION, temperature=9)
    except openai.BadRequestError as error:
        print(f"{error.status_code}: {error.message}")


if __name__ == "__main__":
    main()
