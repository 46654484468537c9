"""Refusals in the form of each API."""

from http import HTTPStatus

from atlassian_sandbox.http import Api, JsonObject, Refusal, Response


def error_response(api: Api, refusal: Refusal) -> Response:
    message = " ".join([*refusal.messages, *refusal.errors.values()])
    status = refusal.status
    body: JsonObject
    match api:
        case "v2":
            title = message or HTTPStatus(status).phrase
            code = HTTPStatus(status).name
            body = {"errors": [{"status": status, "code": code, "title": title, "detail": None}]}
        case "v1" | "wiki":
            data = {"authorized": status != HTTPStatus.FORBIDDEN, "valid": status != HTTPStatus.BAD_REQUEST}
            data |= {"errors": [], "successful": False}
            body = {"statusCode": status, "data": data, "message": message}
        case "service":
            body = {"errorMessage": message, "i18nErrorMessage": {"i18nKey": "sandbox.error", "parameters": []}}
        case _:
            body = {"errorMessages": refusal.messages, "errors": refusal.errors}
    return Response(status, body)
