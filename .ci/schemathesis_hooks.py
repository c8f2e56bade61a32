"""Bodies of lines for Schemathesis: a text is sent and checked as it is. Streams of events are not checked."""

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/jsonl", "text/csv")
def lines(_, value):
    """Returns the bytes of a body. Other values than texts, which any bytes are, are no body."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return value if isinstance(value, bytes) else None


@schemathesis.deserializer("application/x-ndjson")
def text(_, response):
    """Returns the text of a response."""
    return response.content.decode()


@schemathesis.hook
def before_load_schema(_, raw_schema):
    """Removes the schemas of streams of events, which Schemathesis would compare with each event."""
    for response in raw_schema["components"]["responses"].values():
        response.get("content", {}).get("text/event-stream", {}).pop("schema", None)


@schemathesis.hook
def before_call(_, case, __):
    """Lowers the number of large boards of a job: each takes the whole time limit, and events last as long as the job."""
    recipe = case.body.get("random") if isinstance(case.body, dict) else None
    if not isinstance(recipe, dict):
        return
    sizes = [recipe.get(name) for name in ("rows", "cols", "count")]
    if all(type(size) is int for size in sizes) and sizes[0] * sizes[1] > 16 and 10 < sizes[2] <= 1000:
        recipe["count"] = 10
