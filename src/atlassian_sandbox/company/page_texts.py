"""The pages of the demo company: title, parent, author, age in days, labels and text."""

# ruff: noqa: E501 - a table row or a list is read in one line

from dataclasses import dataclass, field

from atlassian_sandbox.company.issue_texts import at
from atlassian_sandbox.documents import (
    bullets,
    card,
    code,
    code_block,
    columns,
    commented,
    decision,
    doc,
    emoji,
    expand,
    h,
    image,
    link,
    macro,
    macro_with_body,
    numbers,
    p,
    panel,
    quote,
    rule,
    status,
    strong,
    table,
    tasks,
    text,
)
from atlassian_sandbox.http import JsonObject
from atlassian_sandbox.state import SiteState

SITE = "https://sandbox.example"
MARK_RELEASE = "5a1d7a52-6f7e-4c0e-8f0a-2a8d7e3d1001"
MARK_PRICES = "5a1d7a52-6f7e-4c0e-8f0a-2a8d7e3d1002"


@dataclass(frozen=True)
class PageDraft:
    """A page to build. `older` are its earlier versions."""

    id: str
    title: str
    parent: str | None
    author: str
    age: float
    content: JsonObject
    labels: tuple[str, ...] = ()
    older: tuple[JsonObject, ...] = field(default=())


def contents() -> JsonObject:
    return macro("toc", "Table of Contents", maxLevel="3", style="disc")


def engineering(state: SiteState) -> list[PageDraft]:
    return [
        PageDraft("20101", "Engineering", None, "mia.keller", 200, doc(
            p("Welcome. Here is how we build and run the booking site."),
            columns(
                [h(3, "Start here"), bullets("Release process", "On-call handbook", "Architecture overview")],
                [h(3, "Now"), p("Sprint goal: ", strong("first group booking end to end")), macro("jira", "Jira", jqlQuery="project = FERRY AND sprint in openSprints()", columns="key,summary,status")],
            ),
            macro("children", "Children Display", sort="title"),
        ), ("start",)),
        PageDraft("20102", "Release process", "20101", "mia.keller", 150, doc(
            contents(),
            panel("info", p("A release goes out on Tuesdays at 10:00. ", commented("Never on a Friday.", MARK_RELEASE))),
            h(2, "Before"),
            tasks((True, "All tests are green"), (False, "Release notes are written"), (False, "Support knows what changes")),
            h(2, "Steps"),
            numbers(("Create the branch ", code("release/2026.3")), "Deploy to staging", ("Ask ", at(state, "emil.hansen"), " for the smoke test"), "Deploy to production"),
            code_block("bash", "git checkout -b release/2026.3\nmake deploy TARGET=staging\nmake smoke-test"),
            h(2, "After"),
            p("Watch the dashboard for an hour. Status: ", status("ON TRACK", "green")),
            h(3, "Rolling back"),
            panel("warning", p("A migration cannot be rolled back. Ask ", at(state, "jonas.weber"), " first.")),
            expand("Commands", code_block("bash", "make rollback TARGET=production")),
        ), ("release", "how-to"), (
            doc(h(2, "Steps"), numbers("Create the branch", "Deploy")),
            doc(contents(), h(2, "Before"), p("All tests are green."), h(2, "Steps"), numbers("Create the branch", "Deploy to staging", "Deploy to production")),
        )),
        PageDraft("20103", "On-call handbook", "20101", "jonas.weber", 120, doc(
            contents(),
            h(2, "Who is on call"),
            table(("Week", "First", "Second"), ("46", at(state, "jonas.weber"), at(state, "emil.hansen")), ("47", at(state, "mia.keller"), at(state, "tomas.silva"))),
            h(2, "When the phone rings"),
            numbers("Open the dashboard", "Say in the channel that you are looking", "Fix or roll back", "Write the report"),
            panel("error", p("Do not restart the database without a second person.")),
            h(2, "Known alarms"),
            table(("Alarm", "Meaning", "What to do"), ("payment-latency", "The provider is slow", "Wait 10 minutes"), ("import-stale", "No timetable for 24 hours", link("Run the import", f"{SITE}/wiki/spaces/ENG/pages/20106")), ("queue-depth", "Mails wait", "Restart the mailer")),
        ), ("on-call", "how-to")),
        PageDraft("20104", "Architecture overview", "20101", "mia.keller", 180, doc(
            contents(),
            h(2, "Picture"),
            image("architecture.png", "20104", 960, 540),
            h(2, "Parts"),
            table(("Part", "Language", "Owner"), ("Booking", "Python", at(state, "jonas.weber")), ("Timetable", "Python", at(state, "emil.hansen")), ("App", "Kotlin, Swift", at(state, "tomas.silva"))),
            h(2, "Decisions"),
            decision("One database for bookings and payments"),
            decision("Tickets are signed, so that the app can show them offline"),
            macro_with_body("excerpt", "Excerpt", p("The booking site is one service with one database.")),
        ), ("architecture",)),
        PageDraft("20105", "Group bookings: technical design", "20104", "jonas.weber", 24, doc(
            p("Status: ", status("IN REVIEW", "yellow"), " Author: ", at(state, "jonas.weber")),
            contents(),
            h(2, "Goal"),
            p("Groups of 10 to 60 travellers book on the site. Epic: ", card(f"{SITE}/browse/FERRY-2")),
            h(2, "Data"),
            code_block("sql", "create table traveller (\n  booking bigint not null,\n  name text not null,\n  born date\n);"),
            h(2, "Prices"),
            p("The ", commented("discount is applied to the whole group", MARK_PRICES), ", bicycles excluded."),
            h(2, "Open questions"),
            bullets("May a group pay in parts?", "Who can change names after payment?"),
        ), ("design", "groups")),
        PageDraft("20106", "Timetable import", "20104", "emil.hansen", 75, doc(
            p("Every night at 02:00 we read the files of the ports."),
            h(2, "Formats"),
            table(("Port", "Format", "Time zone"), ("Rostock", "CSV", "Europe/Berlin"), ("Gdańsk", "XML", "Europe/Warsaw"), ("Trelleborg", "JSON", "Europe/Stockholm")),
            h(2, "When it fails"),
            panel("note", p("An unknown port stops the import since FERRY-25 no longer.")),
            macro("jira", "Jira", key="FERRY-25"),
        ), ("timetable",)),
        PageDraft("20107", "Incident 2026-11-01: double charges", "20101", "jonas.weber", 15, doc(
            p("Severity: ", status("HIGH", "red")),
            h(2, "What happened"),
            p("Four vouchers were charged twice after a declined card."),
            h(2, "Timeline"),
            table(("Time", "Event"), ("09:10", "First message from a traveller"), ("09:40", "Cause found"), ("10:25", "Fix in production")),
            h(2, "What we learned"),
            quote("Reserve first, charge last."),
            tasks((True, "Refund the four travellers"), (False, "Alarm for double charges")),
        ), ("incident", "post-mortem")),
    ]  # fmt: skip


def product(state: SiteState) -> list[PageDraft]:
    return [
        PageDraft("20201", "Product", None, "anna.berg", 210, doc(
            p("What we build, for whom, and why. ", emoji("ferry", "⛴")),
            macro("children", "Children Display"),
        ), ("start",)),
        PageDraft("20202", "Roadmap 2027", "20201", "anna.berg", 60, doc(
            contents(),
            h(2, "Spring"),
            table(("Topic", "SiteState", "Owner"), ("Group bookings", status("IN PROGRESS", "blue"), at(state, "anna.berg")), ("Summer timetable", status("PLANNED"), at(state, "emil.hansen"))),
            h(2, "Autumn"),
            bullets("Cabins", "Faster search"),
            rule(),
            p(text("Dates can change.", "em")),
        ), ("roadmap",)),
        PageDraft("20203", "Group bookings", "20201", "anna.berg", 58, doc(
            h(2, "Problem"),
            p("Groups write e-mails. Support answers 40 of them a week, each takes 25 minutes."),
            h(2, "Users"),
            bullets("teachers", "travel agencies such as Baltic Tours", "sports clubs"),
            h(2, "Rules"),
            table(("Travellers", "Discount"), ("10 to 19", "5 %"), ("20 to 39", "10 %"), ("40 and more", "15 %")),
            h(2, "Not now"),
            p("Payment in parts."),
        ), ("groups", "requirements")),
        PageDraft("20204", "Interviews with group travellers", "20203", "anna.lindqvist", 50, doc(
            quote("I type 30 names twice: once for the ferry, once for the hotel."),
            quote("I need one invoice, not 30."),
            p("Summary: names and invoices matter more than the price."),
        ), ("research", "groups")),
        PageDraft("20205", "Ticket screen: design", "20201", "anna.lindqvist", 45, doc(
            p("The new screen of the app."),
            image("ticket-screen.png", "20205", 390, 844),
            h(2, "Contrast"),
            p("The code needs a white background, also in dark mode."),
        ), ("design", "app")),
        PageDraft("20206", "Meeting notes", "20201", "anna.berg", 40, doc(macro("pagetree", "Page Tree", root="@self")), ("meetings",)),
        PageDraft("20207", "Product meeting, week 45", "20206", "anna.berg", 11, doc(
            p("Present: ", at(state, "anna.berg"), ", ", at(state, "mia.keller"), ", ", at(state, "priya.nair")),
            h(2, "Decisions"),
            decision("Group bookings go live with version 2026.3"),
            h(2, "Tasks"),
            tasks((False, "Tell Baltic Tours"), (True, "Check the price rules")),
        ), ("meetings",)),
        PageDraft("20208", "Product meeting, week 46", "20206", "anna.berg", 4, doc(
            p("Present: ", at(state, "anna.berg"), ", ", at(state, "jonas.weber")),
            p("The discount does not apply to bicycles."),
        ), ("meetings",)),
        PageDraft("20209", "Answers for support", "20201", "priya.nair", 90, doc(
            contents(),
            h(2, "Dogs"),
            p("Dogs travel free on all crossings, with a leash."),
            h(2, "Refunds"),
            p("Until 24 hours before departure: the whole price. Later: half of it."),
            h(2, "Wheelchairs"),
            p("Two places on each vessel. Book by phone until 48 hours before."),
            expand("Template of an answer", p("Dear traveller, thank you for writing to us.")),
        ), ("support", "how-to")),
    ]  # fmt: skip


def people(state: SiteState) -> list[PageDraft]:
    return [
        PageDraft("20301", "People", None, "clara.dubois", 220, doc(p("Contracts, hiring and the office."), macro("children", "Children Display"))),
        PageDraft("20302", "First week at Harbourline", "20301", "clara.dubois", 100, doc(
            tasks((False, "Laptop and keys"), (False, "Lunch with the team"), (False, "A trip on one of our ferries")),
            p("Questions? Ask ", at(state, "clara.dubois"), "."),
        ), ("onboarding", "how-to")),
        PageDraft("20303", "Holidays and sick leave", "20301", "clara.dubois", 130, doc(
            h(2, "Holidays"), p("30 days a year. Enter them two weeks before."), h(2, "Sick leave"), p("Write to your lead before 9:00."),
        ), ("how-to",)),
        PageDraft("20304", "Salary bands 2027", "20301", "clara.dubois", 9, doc(
            panel("warning", p("Confidential: people team only.")),
            table(("Level", "From", "To"), ("1", "48,000", "56,000"), ("2", "55,000", "67,000"), ("3", "66,000", "82,000")),
        ), ("confidential",)),
    ]  # fmt: skip
