"""Writes text token by token: each token leaves as a part of the answer. A handler of TorchServe."""

import json
import os

import torch
from ts.context import Context
from ts.handler_utils.utils import send_intermediate_predict_response
from ts.torch_handler.base_handler import BaseHandler


class TextHandler(BaseHandler):
    def initialize(self, ctx: Context):
        model_dir = ctx.system_properties.get("model_dir")
        self.model = torch.jit.load(os.path.join(model_dir, "model.pt"), map_location="cpu").eval()
        with open(os.path.join(model_dir, "vocabulary.json")) as file:
            self.vocabulary = json.load(file)
        self.initialized = True

    def preprocess(self, requests):
        body = requests[0].get("body") or requests[0].get("data")
        if isinstance(body, (bytes, bytearray)):
            body = json.loads(body)
        tokens = [self.vocabulary.index(word) for word in body["prompt"].split()]
        return tokens, body.get("max_new_tokens", 8)

    def handle(self, requests, context):
        tokens, count = self.preprocess(requests)
        for _ in range(count):
            with torch.no_grad():
                tokens.append(int(self.model(torch.tensor([tokens])).argmax()))
            word = self.vocabulary[tokens[-1]] + " "
            send_intermediate_predict_response([word], context.request_ids, "Intermediate", 200, context)
        return [""]
