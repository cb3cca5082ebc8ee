"""The linear model with LitServe."""

import litserve
import torch
from fastapi import HTTPException


class Flats(litserve.LitAPI):
    def setup(self, device):
        self.model = torch.jit.load("model.pt", map_location=device).eval()

    def decode_request(self, request):
        if any("rooms" not in flat for flat in request["flats"]):
            raise HTTPException(400, "rooms: expected a number")
        return torch.tensor([[flat["squareMetres"], flat["rooms"]] for flat in request["flats"]], device=self.device)

    def predict(self, data):
        with torch.no_grad():
            return self.model(data.float())

    def encode_response(self, prediction):
        return {"prices": prediction[:, 0].tolist()}


if __name__ == "__main__":
    litserve.LitServer(Flats()).run(port=8080)
