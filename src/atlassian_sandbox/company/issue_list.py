"""The issues of the demo company: one line each."""

# ruff: noqa: E501 - a table is read line by line

from typing import NamedTuple


class Line(NamedTuple):
    key: str
    type: str  # E epic, S story, T task, B bug, U subtask, R service request, I incident
    summary: str
    status: str
    priority: str
    assignee: str | None
    reporter: str
    age: float  # days since it was created
    parent: str | None = None
    sprints: tuple[int, ...] = ()
    points: float | None = None
    labels: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    fix: str | None = None
    due: int | None = None  # days from now
    resolution: str = "Done"


LINES = [
    Line("FERRY-1", "E", "Vouchers and gift cards", "Done", "High", "jonas.weber", "anna.berg", 88, fix="2026.2"),
    Line("FERRY-2", "E", "Group bookings", "In Progress", "High", "mia.keller", "anna.berg", 62, fix="2026.3", due=18),
    Line("FERRY-3", "E", "Faster search for crossings", "To Do", "Medium", None, "anna.berg", 40, fix="2027.1"),
    Line("FERRY-4", "S", "Redeem a voucher at checkout", "Done", "High", "jonas.weber", "anna.berg", 60, "FERRY-1", (21,), 5, ("vouchers",), ("Checkout",), "2026.2"),
    Line("FERRY-5", "S", "Show the remaining balance of a voucher", "Done", "Medium", "emil.hansen", "anna.berg", 58, "FERRY-1", (21,), 3, ("vouchers",), ("Checkout",), "2026.2"),
    Line("FERRY-6", "B", "Voucher is charged twice when the card is declined", "Done", "Highest", "jonas.weber", "priya.nair", 31, "FERRY-1", (21, 22), 3, ("vouchers", "regression"), ("Payments",), "2026.2"),
    Line("FERRY-7", "T", "Write the voucher terms into the ticket e-mail", "Done", "Low", "anna.lindqvist", "anna.berg", 45, "FERRY-1", (21,), 1, (), ("Checkout",), "2026.2"),
    Line("FERRY-8", "S", "Refund a ticket without calling support", "Done", "High", "jonas.weber", "priya.nair", 44, None, (22,), 8, ("refunds",), ("Payments",), "2026.2"),
    Line("FERRY-9", "B", "Refund e-mail shows the wrong currency", "Done", "Medium", "emil.hansen", "priya.nair", 19, None, (22,), 2, ("refunds",), ("Payments",), "2026.2"),
    Line("FERRY-10", "T", "Upgrade the payment library to version 9", "Done", "Medium", "jonas.weber", "mia.keller", 33, None, (22,), 3, ("maintenance",), ("Payments",), "2026.2"),
    Line("FERRY-11", "S", "Choose the number of travellers in a group", "Done", "High", "jonas.weber", "anna.berg", 26, "FERRY-2", (23,), 3, ("groups",), ("Search",), "2026.3"),
    Line("FERRY-12", "S", "Group price with a discount from 10 travellers", "In Review", "High", "jonas.weber", "anna.berg", 26, "FERRY-2", (23,), 5, ("groups", "pricing"), ("Checkout",), "2026.3"),
    Line("FERRY-13", "S", "Enter the names of all travellers of a group", "In Progress", "High", "mia.keller", "anna.berg", 25, "FERRY-2", (23,), 8, ("groups",), ("Checkout",), "2026.3", 6),
    Line("FERRY-14", "U", "Import names from a spreadsheet", "In Progress", "Medium", "emil.hansen", "mia.keller", 5, "FERRY-13", (23,), None, ("groups",)),
    Line("FERRY-15", "U", "Check for missing dates of birth", "To Do", "Medium", None, "mia.keller", 5, "FERRY-13", (23,), None, ("groups",)),
    Line("FERRY-16", "S", "Send one invoice for the whole group", "To Do", "Medium", None, "anna.berg", 24, "FERRY-2", (24,), 5, ("groups", "invoices"), ("Payments",), "2026.3"),
    Line("FERRY-17", "S", "Change a group booking up to 24 hours before departure", "To Do", "Medium", None, "anna.berg", 24, "FERRY-2", (24,), 8, ("groups",), ("Checkout",), "2026.3"),
    Line("FERRY-18", "B", "Basket is empty after the language is changed", "Blocked", "High", "emil.hansen", "priya.nair", 12, None, (23,), 2, ("regression",), ("Checkout",), "2026.3", -1),
    Line("FERRY-19", "B", "Search ignores departures after midnight", "In Progress", "High", "emil.hansen", "priya.nair", 9, "FERRY-3", (23,), 3, ("timetable",), ("Search", "Timetable"), "2026.3"),
    Line("FERRY-20", "T", "Load test with 500 bookings a minute", "To Do", "High", "mia.keller", "mia.keller", 8, "FERRY-2", (23,), 3, ("performance",), ("Checkout",), "2026.3", 3),
    Line("FERRY-21", "S", "Suggest the nearest port while typing", "To Do", "Medium", None, "anna.lindqvist", 38, "FERRY-3", (), 5, ("search",), ("Search",), "2027.1"),
    Line("FERRY-22", "S", "Filter crossings by vessel and by price", "To Do", "Low", None, "anna.berg", 37, "FERRY-3", (), 5, ("search",), ("Search",), "2027.1"),
    Line("FERRY-23", "T", "Measure the time to the first result", "To Do", "Medium", "emil.hansen", "mia.keller", 36, "FERRY-3", (), 2, ("performance", "search"), ("Search",)),
    Line("FERRY-24", "B", "Prices of bicycles are rounded to whole euros", "To Do", "Low", None, "priya.nair", 22, None, (), 1, ("pricing",), ("Checkout",)),
    Line("FERRY-25", "B", "Timetable import stops at an unknown port", "Done", "Highest", "emil.hansen", "emil.hansen", 29, None, (22,), 3, ("timetable", "import"), ("Timetable",), "2026.2"),
    Line("FERRY-26", "T", "Delete unpaid baskets after 30 days", "To Do", "Lowest", None, "mia.keller", 20, None, (), 2, ("privacy",), ("Checkout",)),
    Line("FERRY-27", "S", "Book a cabin together with the crossing", "To Do", "Medium", None, "anna.berg", 15, None, (), 13, ("cabins",), ("Checkout",), "2027.1"),
    Line("FERRY-28", "T", "Rotate the keys of the payment provider", "Done", "High", "mia.keller", "mia.keller", 14, None, (23,), 1, ("security",), ("Payments",)),
    Line("FERRY-29", "B", "Ticket code cannot be scanned in dark mode", "To Do", "High", "anna.lindqvist", "priya.nair", 3, None, (23,), 2, ("accessibility",), ("Checkout",), "2026.3"),
    Line("FERRY-30", "B", "Two bookings share one ticket number", "To Do", "Highest", None, "priya.nair", 0.4, None, (), None, ("data",), ("Checkout",)),
    Line("APP-1", "E", "New ticket screen", "In Progress", "High", "tomas.silva", "anna.lindqvist", 50, fix="App 3.0", due=25),
    Line("APP-2", "S", "Show the ticket without a network", "Done", "High", "tomas.silva", "anna.lindqvist", 48, "APP-1", (), 5, ("offline",), (), "App 3.0"),
    Line("APP-3", "S", "Brighten the screen while the code is shown", "In Review", "Medium", "tomas.silva", "anna.lindqvist", 30, "APP-1", (), 2, ("accessibility",), (), "App 3.0"),
    Line("APP-4", "S", "Add the ticket to the wallet of the phone", "In Progress", "High", "tomas.silva", "anna.berg", 28, "APP-1", (), 8, ("wallet",), (), "App 3.0"),
    Line("APP-5", "B", "App closes when the camera is refused", "Done", "High", "tomas.silva", "emil.hansen", 18, None, (), 2, ("crash",), (), "App 3.0"),
    Line("APP-6", "B", "Push message arrives an hour late in Portugal", "To Do", "Medium", "tomas.silva", "priya.nair", 10, None, (), 2, ("time-zone",)),
    Line("APP-7", "T", "Support Android 17", "To Do", "Medium", None, "tomas.silva", 9, None, (), 5, ("maintenance",)),
    Line("APP-8", "S", "Live position of the ferry on a map", "To Do", "Low", None, "anna.berg", 21, None, (), 13, ("map",)),
    Line("APP-9", "B", "Names with an apostrophe are cut", "In Progress", "Medium", "emil.hansen", "priya.nair", 6, None, (), 1, ("data",), (), "App 3.0"),
    Line("APP-10", "T", "Replace the analytics library", "To Do", "Low", None, "tomas.silva", 16, None, (), 3, ("privacy",)),
    Line("APP-11", "S", "Group tickets in one list", "To Do", "High", None, "anna.berg", 5, "APP-1", (), 5, ("groups",), (), "App 3.0"),
    Line("PEOPLE-1", "T", "Hire a second support agent", "In Progress", "High", "clara.dubois", "priya.nair", 35, labels=("hiring",), due=20),
    Line("PEOPLE-2", "U", "Publish the advertisement", "Done", "Medium", "clara.dubois", "clara.dubois", 33, "PEOPLE-1"),
    Line("PEOPLE-3", "U", "Invite four candidates", "In Progress", "Medium", "clara.dubois", "clara.dubois", 12, "PEOPLE-1", due=4),
    Line("PEOPLE-4", "T", "Renew the office lease", "To Do", "High", "clara.dubois", "mia.keller", 28, labels=("office",), due=40),
    Line("PEOPLE-5", "T", "Plan the winter meeting in Gdańsk", "In Progress", "Medium", "clara.dubois", "clara.dubois", 20, labels=("event",), due=30),
    Line("PEOPLE-6", "T", "Salary review for 2027", "To Do", "High", "clara.dubois", "mia.keller", 7, labels=("confidential",), due=35),
    Line("PEOPLE-7", "T", "Order laptops for the new colleagues", "Done", "Low", "mia.keller", "clara.dubois", 25, labels=("office",)),
    Line("HELP-1", "R", "Can I take my dog on the night ferry?", "Resolved", "Low", "priya.nair", "priya.nair", 21),
    Line("HELP-2", "R", "Refund for the cancelled crossing of Sunday", "Resolved", "Medium", "priya.nair", "priya.nair", 17),
    Line("HELP-3", "I", "Card payment fails with an error 502", "Resolved", "Highest", "jonas.weber", "priya.nair", 16, labels=("payments",)),
    Line("HELP-4", "R", "Invoice with our company address", "Waiting for customer", "Medium", "priya.nair", "priya.nair", 8),
    Line("HELP-5", "R", "Change the date of a booking for 14 people", "Waiting for support", "High", "priya.nair", "priya.nair", 4, labels=("groups",)),
    Line("HELP-6", "I", "Timetable of Rostock shows last year's departures", "Escalated", "High", "emil.hansen", "priya.nair", 3, labels=("timetable",)),
    Line("HELP-7", "R", "Voucher code does not work", "Waiting for support", "Medium", None, "priya.nair", 1.5, labels=("vouchers",)),
    Line("HELP-8", "I", "Confirmation e-mails arrive twice", "Waiting for support", "High", None, "priya.nair", 0.6),
    Line("HELP-9", "R", "How do I book a wheelchair place?", "Waiting for support", "Medium", None, "priya.nair", 0.2),
    Line("HELP-10", "R", "Refund for two bicycles", "Waiting for customer", "Low", "priya.nair", "priya.nair", 5),
]  # fmt: skip

# The way from the first status to each other one.
PATHS = {
    "To Do": (),
    "In Progress": ("In Progress",),
    "In Review": ("In Progress", "In Review"),
    "Blocked": ("In Progress", "Blocked"),
    "Done": ("In Progress", "In Review", "Done"),
    "Waiting for support": (),
    "Waiting for customer": ("Waiting for customer",),
    "Escalated": ("Escalated",),
    "Resolved": ("Waiting for customer", "Waiting for support", "Resolved"),
}

# Type, the issue that does it, the issue that it is done to.
LINKS = [
    ("Blocks", "FERRY-12", "FERRY-16"),
    ("Blocks", "FERRY-13", "FERRY-20"),
    ("Blocks", "FERRY-11", "APP-11"),
    ("Blocks", "APP-9", "FERRY-18"),
    ("Relates", "FERRY-6", "HELP-3"),
    ("Relates", "FERRY-19", "HELP-6"),
    ("Relates", "FERRY-17", "HELP-5"),
    ("Duplicate", "FERRY-24", "FERRY-9"),
    ("Relates", "PEOPLE-1", "HELP-5"),
]
