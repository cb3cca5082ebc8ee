"""The BERT classifier with LitServe."""

import litserve
from transformers import pipeline


class Classifier(litserve.LitAPI):
    def setup(self, device):
        self.model = pipeline("text-classification", model="my-model", device=device)

    def decode_request(self, request):
        return request["inputs"]

    def predict(self, inputs):
        return self.model(inputs)

    def encode_response(self, prediction):
        return prediction


if __name__ == "__main__":
    litserve.LitServer(Classifier()).run(port=8080)
