"""A table of the configuration file, as strict as its reader needs it."""

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class ConfigTable(BaseModel):
    """Frozen; an unknown key, a number that is none or endless, and a NUL in a text are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        wanted = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and {wanted, *get_args(wanted)} & {int, float}:
            raise ValueError(f"is {str(value).lower()}, which only a switch can be")
        return value

    @field_validator("*")
    @classmethod
    def _no_nul(cls, value: Any) -> Any:
        """No path, name or flag of the system can hold a NUL character."""
        texts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(text, str) and "\0" in text for text in texts):
            raise ValueError("holds a NUL character")
        return value
