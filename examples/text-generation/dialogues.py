"""Makes simple questions with their answers, so that a chat with the model says something sensible."""

import random

CAPITALS = {
    "Austria": "Vienna", "Belgium": "Brussels", "Brazil": "Brasília", "Canada": "Ottawa", "Chile": "Santiago",
    "China": "Beijing", "Cuba": "Havana", "Denmark": "Copenhagen", "Egypt": "Cairo", "England": "London",
    "Finland": "Helsinki", "France": "Paris", "Germany": "Berlin", "Greece": "Athens", "Hungary": "Budapest",
    "Iceland": "Reykjavík", "India": "New Delhi", "Ireland": "Dublin", "Italy": "Rome", "Japan": "Tokyo",
    "Kenya": "Nairobi", "Mexico": "Mexico City", "Norway": "Oslo", "Peru": "Lima", "Poland": "Warsaw",
    "Portugal": "Lisbon", "Russia": "Moscow", "Spain": "Madrid", "Sweden": "Stockholm", "Turkey": "Ankara",
}
OPPOSITES = {
    "hot": "cold", "big": "small", "old": "young", "high": "low", "good": "bad", "light": "dark", "wet": "dry",
    "full": "empty", "fast": "slow", "hard": "soft", "happy": "sad", "early": "late", "near": "far", "open": "closed",
    "rich": "poor", "strong": "weak", "true": "false", "long": "short", "black": "white", "up": "down",
}
SOUNDS = {
    "dog": "woof", "cat": "meow", "cow": "moo", "duck": "quack", "sheep": "baa", "lion": "roar", "frog": "croak",
    "bee": "buzz", "horse": "neigh", "owl": "hoot", "pig": "oink", "wolf": "howl",
}
GREETINGS = {
    "German": "Guten Tag! Schöne Grüße.", "French": "Bonjour, à bientôt !", "Spanish": "¡Buenos días, señor!",
    "Japanese": "こんにちは。", "Greek": "Καλημέρα!", "Russian": "Здравствуйте!", "English": "Good day!",
}
COLOURS = {"grass": "green", "snow": "white", "blood": "red", "coal": "black", "the sky": "blue", "the sun": "yellow"}
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
NAMES = [
    "Ada", "Alan", "Anna", "Ben", "Carl", "Clara", "Dan", "Emma", "Eve", "Frank", "Grace", "Hans", "Ida", "Jack",
    "Jane", "John", "Karen", "Leo", "Lucy", "Mark", "Mary", "Nora", "Otto", "Paul", "Peter", "Rosa", "Sam", "Tom",
]
SYSTEMS = ["You are a helpful assistant.", "Answer in one sentence.", "Be brief and friendly."]

Message = tuple[str, str]


def question(chance: random.Random) -> Message:
    kind = chance.randrange(10)
    if kind < 3:
        country, city = chance.choice(list(CAPITALS.items()))
        if chance.random() < 0.3:
            return f"Which country has the capital {city}?", f"{city} is the capital of {country}."
        return f"What is the capital of {country}?", f"The capital of {country} is {city}."
    if kind == 3:
        word, opposite = chance.choice(list(OPPOSITES.items()))
        word, opposite = chance.choice([(word, opposite), (opposite, word)])
        return f"What is the opposite of {word}?", f"The opposite of {word} is {opposite}."
    if kind == 4:
        animal, sound = chance.choice(list(SOUNDS.items()))
        return f"What does a {animal} say?", f"A {animal} says {sound}."
    if kind == 5:
        first = chance.randint(1, 9)
        last = first + chance.randint(2, 9)
        return f"Count from {first} to {last}.", ", ".join(map(str, range(first, last + 1))) + "."
    if kind == 6:
        day = chance.randrange(7)
        return f"Which day comes after {DAYS[day]}?", f"After {DAYS[day]} comes {DAYS[(day + 1) % 7]}."
    if kind == 7:
        language, greeting = chance.choice(list(GREETINGS.items()))
        return f"Say hello in {language}.", greeting
    if kind == 8:
        thing, colour = chance.choice(list(COLOURS.items()))
        return f"What colour is {thing}?", f"{thing[0].upper()}{thing[1:]} is {colour}."
    return chance.choice([
        ("Hello!", "Hello! How can I help you?"),
        ("Who are you?", "I am a very small language model."),
        ("Smile, please.", "😀 There you are! 🎉"),
        ("Thank you.", "You are welcome."),
    ])


def dialogue(chance: random.Random) -> list[Message]:
    """Roles and texts. In some, a later answer needs what was said before."""
    turns = [question(chance) for _ in range(chance.choice([1, 1, 2]))]
    if chance.random() < 0.3:
        name = chance.choice(NAMES)
        turns.insert(0, (f"My name is {name}.", f"Hello, {name}! How can I help you?"))
        turns.append(("What is my name?", f"Your name is {name}."))
    messages = [("system", chance.choice(SYSTEMS))] if chance.random() < 0.2 else []
    return messages + [message for asked, said in turns for message in (("user", asked), ("assistant", said))]
