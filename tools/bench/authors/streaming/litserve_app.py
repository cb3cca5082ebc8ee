"""Counts up to a number, a JSON line for each step, with LitServe."""

import json

import litserve


class Count(litserve.LitAPI):
    def setup(self, device):
        self.first = 1

    def decode_request(self, request):
        return request["last"]

    def predict(self, last):
        yield from range(self.first, last + 1)

    def encode_response(self, numbers):
        for number in numbers:
            yield json.dumps({"number": number}) + "\n"


if __name__ == "__main__":
    litserve.LitServer(Count(stream=True)).run(port=8080)
