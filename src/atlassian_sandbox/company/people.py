from atlassian_sandbox.model import SiteUser
from atlassian_sandbox.state import SiteState

# Login name, full name, groups. The first is who a request without credentials is from.
PEOPLE = [
    ("mia.keller", "Mia Keller", {"employees", "engineering", "people-team", "administrators"}),
    ("jonas.weber", "Jonas Weber", {"employees", "engineering"}),
    ("anna.berg", "Anna Berg", {"employees", "product"}),
    ("anna.lindqvist", "Anna Lindqvist", {"employees", "product"}),
    ("tomas.silva", "Tomás Silva", {"employees", "engineering"}),
    ("priya.nair", "Priya Nair", {"employees", "support"}),
    ("emil.hansen", "Emil Hansen", {"employees", "engineering"}),
    ("clara.dubois", "Clara Dubois", {"employees", "people-team"}),
    ("sam.ortiz", "Sam Ortiz", {"contractors"}),
    ("lena.vogt", "Lena Vogt", {"employees"}),
]
FORMER = {"lena.vogt"}


def user_id(state: SiteState, name: str) -> str:
    """The id of a person: an account id on Cloud, a user key on Data Center."""
    number = next(index for index, (login, _, _) in enumerate(PEOPLE) if login == name)
    if state.kind == "cloud":
        return f"712020:{number + 1:08x}-4a1c-4e5d-9b1f-0c2d7e61a0{number + 16:02x}"
    return f"JIRAUSER{10100 + number}"


def add_people(state: SiteState) -> None:
    for name, display_name, groups in PEOPLE:
        user = user_id(state, name)
        email = f"{name}@harbourline.example"
        state.users[user] = SiteUser(user, name, display_name, email, set(groups), active=name not in FORMER)
        state.tokens[f"sandbox-token-{name}"] = user
        state.tokens[f"sandbox-scoped-token-{name}"] = user
        state.scoped_tokens.add(f"sandbox-scoped-token-{name}")
    state.default_user = user_id(state, PEOPLE[0][0])
