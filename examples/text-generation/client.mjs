// Asks the server as any program does that uses OpenAI's client.
//
//     npm install openai
//     node examples/text-generation/client.mjs http://localhost:8080/v1

import OpenAI from "openai";

const QUESTION = [{ role: "user", content: "What is the capital of France?" }];

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none is asked for", maxRetries: 0 });

const whole = await client.chat.completions.create({ model: "small", messages: QUESTION });
console.log(whole.choices[0].message.content);

const stream = await client.chat.completions.create({ model: "small", messages: QUESTION, stream: true });
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0].delta.content ?? "");
}
console.log();

const prompt = "In the beginning";
const completion = await client.completions.create({ model: "small", prompt, max_tokens: 16, stop: ["\n"] });
console.log(prompt + completion.choices[0].text);

try {
  await client.chat.completions.create({ model: "small", messages: QUESTION, temperature: 9 });
} catch (error) {
  if (!(error instanceof OpenAI.BadRequestError)) {
    throw error;
  }
  console.log(error.message);
}
