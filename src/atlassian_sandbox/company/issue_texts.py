"""Descriptions and comments of the demo company's issues."""

from atlassian_sandbox.company.people import user_id
from atlassian_sandbox.documents import (
    bullets,
    code,
    code_block,
    doc,
    h,
    link,
    mention,
    numbers,
    p,
    panel,
    strong,
    table,
)
from atlassian_sandbox.http import JsonObject
from atlassian_sandbox.state import SiteState


def at(state: SiteState, name: str) -> JsonObject:
    user = state.user(user_id(state, name))
    return mention(user.id, user.display_name)


def descriptions(state: SiteState) -> dict[str, JsonObject]:
    return {
        "FERRY-2": doc(
            p("Groups of 10 and more travellers book by e-mail today. They should book on the site."),
            h(3, "Done when"),
            bullets(
                "a group of 10 to 60 can be booked", "one invoice is sent", "changes are possible until 24 hours before"
            ),
        ),
        "FERRY-6": doc(
            p("A traveller paid with a voucher and a card. The card was declined, and the voucher was charged twice."),
            h(3, "Steps"),
            numbers(
                "Put a crossing into the basket",
                "Redeem a voucher",
                ("Pay with the test card ", code("4000 0000 0000 0002")),
            ),
            h(3, "Log"),
            code_block(
                "text", "charge voucher=V-8821 amount=20.00\ncard declined code=51\ncharge voucher=V-8821 amount=20.00"
            ),
        ),
        "FERRY-12": doc(
            p("The discount is computed for the whole group:"),
            table(("Travellers", "Discount"), ("10 to 19", "5 %"), ("20 to 39", "10 %"), ("40 and more", "15 %")),
            p("Children under 4 do not count. See ", link("the price rules", "https://prices.example/groups"), "."),
        ),
        "FERRY-13": doc(
            p("As the organiser of a group I want to enter all names once, so that boarding is quick."),
            panel("warning", p("Dates of birth are personal data. Delete them 30 days after the crossing.")),
            bullets("name and date of birth for each traveller", "save and continue later"),
        ),
        "FERRY-18": doc(
            p("Change the language in the basket, and the basket is empty."),
            p(strong("Cause: "), "the session cookie is bound to the path ", code("/en"), "."),
        ),
        "FERRY-19": doc(p("A search for 23:00 shows nothing, although a ferry leaves at 00:15.")),
        "FERRY-30": doc(
            p("Support found bookings 88121 and 88122 with the same ticket number ", code("HL-5520-19"), "."),
            p(at(state, "mia.keller"), " please have a look before the weekend."),
        ),
        "APP-4": doc(p("Wallet passes for both systems."), bullets("Apple Wallet", "Google Wallet")),
        "PEOPLE-6": doc(p("Proposal for each team by the end of the month. Confidential.")),
        "HELP-5": doc(p("We are 14 people and want to travel on the 12th instead of the 10th. Booking 87311.")),
        "HELP-6": doc(p("The page of Rostock shows the departures of last winter since this morning.")),
    }


# Key, author, days ago, public, text.
COMMENTS = [
    ("FERRY-6", "jonas.weber", 29.5, True, "I can reproduce it with every declined card."),
    ("FERRY-6", "priya.nair", 28.2, True, "Four travellers have written so far. We refunded all of them."),
    ("FERRY-6", "jonas.weber", 24.0, True, "Fixed: the voucher is reserved first and charged after the card."),
    ("FERRY-12", "anna.berg", 4.0, True, "Does the discount apply to bicycles too? I think it should not."),
    ("FERRY-12", "jonas.weber", 3.6, True, "Right now it does. I will change it in the review."),
    ("FERRY-13", "emil.hansen", 4.8, True, "The spreadsheet import has its own subtask now."),
    (
        "FERRY-18",
        "emil.hansen",
        2.0,
        True,
        "Blocked: I need the fix of the names first, the test data cannot be saved.",
    ),
    ("FERRY-19", "emil.hansen", 1.2, True, "The day is cut in the time zone of the server, not of the port."),
    ("APP-4", "tomas.silva", 2.5, True, "Google accepts our passes. Apple still wants a certificate."),
    ("PEOPLE-1", "clara.dubois", 10.0, True, "Eleven applications, four of them very good."),
    ("HELP-2", "priya.nair", 16.5, True, "The refund of 84 euros is on its way."),
    ("HELP-3", "jonas.weber", 15.8, False, "The provider had an outage from 09:10 to 09:55."),
    ("HELP-3", "priya.nair", 15.6, True, "Payments work again. Please excuse the trouble."),
    ("HELP-4", "priya.nair", 7.5, True, "Please send us your VAT number."),
    ("HELP-5", "priya.nair", 3.5, False, "There are 16 free places on the 12th."),
    ("HELP-6", "emil.hansen", 2.4, False, "The import of the new timetable stopped on Friday."),
]

# Key, author, days ago, seconds, text.
WORKLOGS = [
    ("FERRY-6", "jonas.weber", 28.0, 3 * 3600, "Reproduced and found the cause"),
    ("FERRY-6", "jonas.weber", 25.0, 5 * 3600, "Fix and tests"),
    ("FERRY-12", "jonas.weber", 5.0, 4 * 3600, "Discount table"),
    ("FERRY-12", "jonas.weber", 4.0, 2 * 3600, "Children under 4"),
    ("FERRY-13", "mia.keller", 3.0, 6 * 3600, "Form for the names"),
    ("FERRY-19", "emil.hansen", 2.0, 90 * 60, "Time zones of ports"),
    ("APP-4", "tomas.silva", 3.0, 7 * 3600, "Passes for Google"),
]
