"""Test that the values of a field are listed with counts."""

import pytest
from tests.support.api_log import client_of, log_of, record_of

LOG = log_of(
    record_of(1, model="a", properties={"user-id": "7"}),
    record_of(2, model="b", properties={"user-id": "8"}),
    record_of(3, model="b", properties={"channel": "web"}),
)


def test_values_are_listed_most_frequent_first() -> None:
    response = client_of(LOG).get("/api/values/model").json()
    assert response == {"data": [{"value": "b", "requests": 2}, {"value": "a", "requests": 1}]}


def test_property_names_and_values_are_listed() -> None:
    client = client_of(LOG)
    assert [row["value"] for row in client.get("/api/values/property").json()["data"]] == ["user-id", "channel"]
    assert [row["value"] for row in client.get("/api/values/property.User_Id").json()["data"]] == ["7", "8"]


def test_sessions_are_listed_by_prefix() -> None:
    client = client_of(log_of(*(record_of(number, session=f"ses_{number % 2}") for number in (1, 2, 3))))
    assert client.get("/api/values/session?prefix=ses_1").json() == {"data": [{"value": "ses_1", "requests": 2}]}
    assert [row["value"] for row in client.get("/api/values/session").json()["data"]] == ["ses_1", "ses_0"]


def test_a_property_name_may_contain_a_slash_or_a_space() -> None:
    client = client_of(log_of(record_of(1, properties={"team/cost": "a", "sp ace": "b"})))
    assert client.get("/api/values/property.team%2Fcost").json()["data"] == [{"value": "a", "requests": 1}]
    assert client.get("/api/values/property.sp%20ace").json()["data"] == [{"value": "b", "requests": 1}]


def test_a_prefix_and_a_limit_narrow_the_list() -> None:
    client = client_of(LOG)
    assert [row["value"] for row in client.get("/api/values/model?prefix=a").json()["data"]] == ["a"]
    assert len(client.get("/api/values/model?limit=1").json()["data"]) == 1


@pytest.mark.parametrize("field", ["seq", "input_preview", "property.", "model%20", "property.%20", "%27--"])
def test_other_fields_are_rejected(field: str) -> None:
    response = client_of(LOG).get(f"/api/values/{field}")
    assert (response.status, response.json()["error"]["param"]) == (400, "field")


def test_other_parameters_are_rejected() -> None:
    response = client_of(LOG).get("/api/values/model?sort=value")
    assert (response.status, response.json()["error"]["param"]) == (400, "sort")
