"""Records are frozen values that cost little to declare."""

import pytest

from archfit.startup.record import _OFTEN, Record


class Point(Record):
    x: int
    y: int = 0


class Named(Point):
    name: str = ""


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        pytest.param(Point(1), (1, 0), id="default"),
        pytest.param(Point(1, 2), (1, 2), id="positions"),
        pytest.param(Point(y=2, x=1), (1, 2), id="names"),
        pytest.param(Named(1, name="a"), (1, 0), id="inherited-fields-come-first"),
    ],
)
def test_fields_are_set_by_position_name_or_default(made, fields):
    assert (made.x, made.y) == fields


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(Point, "Point needs 'x'", id="missing"),
        pytest.param(lambda: Point(1, 2, 3), "Point takes 2 values, not 3", id="too-many"),
        pytest.param(lambda: Point(1, z=3), "Point has no z, or it was given twice", id="unknown"),
        pytest.param(lambda: Point(1, x=3), "Point has no x, or it was given twice", id="twice"),
    ],
)
def test_wrong_construction_names_the_field(make, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        make()


def test_a_record_cannot_change():
    point = Point(1)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 2
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_replace_makes_a_changed_copy():
    point = Point(1, 2)
    assert (point.replace(y=3), point) == (Point(1, 3), Point(1, 2))


def test_equality_and_hash_follow_type_and_fields():
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Named(1, 2)
    assert len({Point(1, 2), Point(1, 2), Point(2, 1)}) == 2


class Often(Record):
    x: int
    y: int = 0
    items: tuple[int, ...] = (1,)


@pytest.fixture
def often():
    """A class of which so many values were made that it has a constructor of its own."""
    for number in range(_OFTEN + 1):
        Often(number)
    assert Often.__init__ is not Record.__init__
    return Often


def test_a_class_that_is_made_often_stays_the_same(often):
    made = often(1, items=(2,))
    assert (type(made), made.x, made.y, made.items) == (often, 1, 0, (2,))
    assert made == often(x=1, items=(2,)) != often(1)
    assert (made.replace(y=3), repr(made)) == (often(1, 3, (2,)), "Often(x=1, y=0, items=(2,))")
    assert len({made, often(1, 0, (2,))}) == 1
    assert not hasattr(made, "__dict__")
    with pytest.raises(AttributeError, match="frozen"):
        made.x = 2
    with pytest.raises(AttributeError, match="frozen"):
        del made.x


def test_a_class_that_is_made_often_refuses_wrong_values(often):
    for values, names in (((), {}), ((1, 2, (3,), 4), {}), ((1,), {"z": 3}), ((1,), {"x": 3})):
        with pytest.raises(TypeError):
            often(*values, **names)
    with pytest.raises(TypeError):
        often(1).replace(z=3)


def test_a_class_below_one_that_is_made_often_is_its_own(often):
    class Below(often):
        z: int = 5

    assert type(Below(1)) is Below
    assert (Below(1, 2).y, Below(1).z) == (2, 5)
    for number in range(_OFTEN + 1):
        assert type(Below(number)) is Below
