//! `openapi.yaml`, and the checks of exchanges against it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hyper::Method;
use hyper::header::HeaderMap;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::question::Question;

/// The contract in the root of the repository.
pub(crate) static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

/// The OpenAPI document.
pub(crate) struct Contract {
    /// The document.
    pub(crate) document: Value,
    /// The components of the document, but their objects may have only the described members. So a member of a response
    /// that the document lacks is found.
    closed_components: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.yaml");
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let document: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut closed_components = document["components"].clone();
        let bases = bases(&document["components"]["schemas"]);
        for (name, schema) in closed_components["schemas"].as_object_mut().expect("schemas") {
            close(schema, bases.contains(name));
        }
        Self { document, closed_components, validators: Mutex::default() }
    }

    /// Violations of the contract by an exchange.
    pub(crate) fn faults(&self, question: &Question, answer: &Answer) -> Vec<String> {
        let mut faults = Vec::new();
        if question.method == Method::OPTIONS && answer.status < 300 {
            if !["allow", "access-control-allow-methods"].iter().any(|name| answer.headers.contains_key(*name)) {
                faults.push("OPTIONS is answered without `Allow`, and is no preflight".to_owned());
            }
            return faults;
        }
        let status = answer.status.to_string();
        let response = match self.operation(question) {
            Operation::Known(operation) => {
                self.check_request(operation, question, answer, &mut faults);
                &operation["responses"][&status]
            }
            Operation::OtherMethod => self.other_response(
                &[
                    (405, "MethodNotAllowed"),
                    (401, "Unauthorized"),
                    (403, "CrossSiteRequest"),
                    (421, "UnknownHost"),
                    (429, "RateLimited"),
                ],
                answer.status,
            ),
            Operation::OtherPath => {
                self.other_response(&[(404, "NotFound"), (401, "Unauthorized"), (421, "UnknownHost")], answer.status)
            }
        };
        if response.is_null() {
            faults.push(format!("status {status} is not documented here"));
            return faults;
        }
        let response = self.resolve(response);
        self.check_headers(&response["headers"], &answer.headers, &mut faults);
        self.check_content(&response["content"], question, answer, &mut faults);
        faults
    }

    /// The response to a request that is not an operation of the document.
    fn other_response(&self, known: &[(u16, &str)], status: u16) -> &Value {
        let name = known.iter().find(|(known, _)| *known == status).map(|(_, name)| *name);
        name.map_or(&Value::Null, |name| &self.document["components"]["responses"][name])
    }

    /// Violations of a schema by a value.
    pub(crate) fn faults_of_value(&self, schema: &Value, value: &Value) -> Vec<String> {
        let key = schema.to_string();
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = validators.entry(key).or_insert_with(|| Arc::new(self.validator(schema))).clone();
        drop(validators);
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    /// Follows a `$ref` within the document.
    pub(crate) fn resolve<'a>(&'a self, mut node: &'a Value) -> &'a Value {
        while let Some(reference) = node["$ref"].as_str() {
            let pointer = reference.trim_start_matches('#');
            node = self.document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"));
        }
        node
    }

    fn validator(&self, schema: &Value) -> Validator {
        // The schema refers to `components`.
        let rooted = json!({ "allOf": [schema], "components": self.closed_components });
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        options.build(&rooted).unwrap_or_else(|error| panic!("{schema}: {error}"))
    }

    fn operation(&self, question: &Question) -> Operation<'_> {
        let path = question.target.split('?').next().unwrap_or_default();
        let empty = Map::new();
        let paths = self.document["paths"].as_object().unwrap_or(&empty);
        let Some(template) = paths.keys().find(|template| is_of(template, path)) else { return Operation::OtherPath };
        let method = if question.method == Method::HEAD { Method::GET } else { question.method.clone() };
        match &self.document["paths"][template][method.as_str().to_lowercase()] {
            Value::Null => Operation::OtherMethod,
            operation => Operation::Known(operation),
        }
    }

    /// Checks that the contract allows every request with a successful response.
    fn check_request(&self, operation: &Value, question: &Question, answer: &Answer, faults: &mut Vec<String>) {
        if !(200..300).contains(&answer.status) {
            return;
        }
        for (name, value) in question.parameters() {
            let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut parameters = parameters.iter().map(|parameter| self.resolve(parameter));
            let Some(parameter) = parameters.find(|parameter| parameter["in"] == "query" && parameter["name"] == name)
            else {
                faults.push(format!("the query parameter `{name}` is not documented, and was accepted"));
                continue;
            };
            let (schema, value) = match &self.resolve(&parameter["schema"])["contentSchema"] {
                Value::Null => (&parameter["schema"], self.parameter_value(&parameter["schema"], &value)),
                schema => (schema, serde_json::from_str(&value).unwrap_or(Value::Null)),
            };
            let found = self.faults_of_value(schema, &value);
            faults.extend(found.iter().map(|fault| format!("query parameter `{name}`, which was accepted: {fault}")));
        }
        // Other bodies are described in prose.
        let is_json = essence(&question.headers) == "application/json";
        let Some(body @ Value::Object(_)) = serde_json::from_slice(&question.body).ok().filter(|_| is_json) else {
            return;
        };
        let media = &operation["requestBody"]["content"]["application/json"];
        let found = self.faults_of_value(&media["schema"], &with_zeros(body));
        faults.extend(found.iter().map(|fault| format!("the body, which was accepted: {fault}")));
    }

    fn parameter_value(&self, schema: &Value, text: &str) -> Value {
        match self.resolve(schema)["type"].as_str() {
            Some("integer" | "number" | "boolean") => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
            Some("array") => {
                let items = text.split(',').filter(|item| !item.is_empty());
                items.map(|item| self.parameter_value(&self.resolve(schema)["items"], item)).collect()
            }
            _ => Value::from(text),
        }
    }

    fn check_headers(&self, documented: &Value, headers: &HeaderMap, faults: &mut Vec<String>) {
        for (name, header) in documented.as_object().into_iter().flatten() {
            let header = self.resolve(header);
            let Some(value) = headers.get(name) else {
                if header["required"] == true {
                    faults.push(format!("the header `{name}` is missing"));
                }
                continue;
            };
            let value = self.parameter_value(&header["schema"], &String::from_utf8_lossy(value.as_bytes()));
            let found = self.faults_of_value(&header["schema"], &value);
            faults.extend(found.iter().map(|fault| format!("header `{name}`: {fault}")));
        }
    }

    fn check_content(&self, documented: &Value, question: &Question, answer: &Answer, faults: &mut Vec<String>) {
        if documented.is_null() {
            if !answer.body.is_empty() {
                faults.push(format!("{} has a body", answer.status));
            }
            return;
        }
        let media_type = essence(&answer.headers);
        let schema = &documented[&media_type]["schema"];
        if schema.is_null() {
            faults.push(format!("the type {media_type:?} is not documented for {}", answer.status));
            return;
        }
        if question.method == Method::HEAD {
            return;
        }
        if media_type == "application/x-ndjson" {
            self.check_lines(&self.resolve(schema)["contentSchema"], question, answer, faults);
        }
        // A schema describes no bytes.
        if media_type == "application/octet-stream" {
            return;
        }
        let body = if media_type == "application/json" || media_type.ends_with("+json") {
            match serde_json::from_slice(&answer.body) {
                Ok(body) => body,
                Err(error) => return faults.push(format!("the body is not JSON: {error}")),
            }
        } else {
            match String::from_utf8(answer.body.to_vec()) {
                Ok(body) => Value::from(body),
                Err(error) => return faults.push(format!("the body is not UTF-8: {error}")),
            }
        };
        faults.extend(self.faults_of_value(schema, &body));
    }

    /// Checks each line of a response, and the lines of the request whose boards it has solved.
    fn check_lines(&self, schema: &Value, question: &Question, answer: &Answer, faults: &mut Vec<String>) {
        let body = String::from_utf8_lossy(&question.body);
        let asked: Vec<&str> = body.lines().collect();
        let asked_schema = json!({ "$ref": "#/components/schemas/BatchBoard" });
        for line in String::from_utf8_lossy(&answer.body).lines() {
            let line = serde_json::from_str(line).unwrap_or(Value::Null);
            faults.extend(self.faults_of_value(schema, &line));
            let number = line["line"].as_u64().filter(|_| line["length"].is_u64());
            let asked = number.and_then(|number| asked.get(number as usize - 1)).copied().unwrap_or_default();
            // Boards alone are described in prose.
            if let Ok(board @ Value::Object(_)) = serde_json::from_str(asked) {
                let found = self.faults_of_value(&asked_schema, &with_zeros(board));
                faults.extend(found.iter().map(|fault| format!("line {line}, which was solved: {fault}")));
            }
        }
    }
}

enum Operation<'a> {
    Known(&'a Value),
    OtherMethod,
    OtherPath,
}

/// Names of the schemas that others extend by `allOf`.
fn bases(schemas: &Value) -> HashSet<String> {
    let mut found = HashSet::new();
    for (name, node) in members(schemas) {
        if name == "allOf" {
            let references = node.as_array().into_iter().flatten().filter_map(|part| part["$ref"].as_str());
            found.extend(references.filter_map(|reference| reference.rsplit('/').next()).map(str::to_owned));
        }
        found.extend(bases(node));
    }
    found
}

/// The members of an object or the entries of an array, with their names.
fn members(node: &Value) -> Vec<(&str, &Value)> {
    match node {
        Value::Object(members) => members.iter().map(|(name, node)| (name.as_str(), node)).collect(),
        Value::Array(entries) => entries.iter().map(|node| ("", node)).collect(),
        _ => Vec::new(),
    }
}

/// Rejects members that a schema, and those within it, do not describe. A base leaves that to the schemas that extend
/// it.
fn close(schema: &mut Value, is_base: bool) {
    match schema {
        Value::Object(object) => {
            for (name, node) in object.iter_mut() {
                // The others are no schemas, or rule something out.
                if !["example", "examples", "default", "const", "enum", "not"].contains(&name.as_str()) {
                    close(node, name == "allOf");
                }
            }
            let is_object = object.get("properties").is_some_and(Value::is_object) || object.contains_key("allOf");
            if is_object && !is_base {
                object.entry("unevaluatedProperties").or_insert(Value::Bool(false));
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| close(entry, is_base)),
        _ => {}
    }
}

/// A body with 0 for each blank that is `null`, a form described in prose.
fn with_zeros(mut body: Value) -> Value {
    fn fill(cells: &mut Value) {
        for cell in cells.as_array_mut().into_iter().flatten() {
            if cell.is_null() {
                *cell = json!(0);
            }
            fill(cell);
        }
    }
    ["board", "goal"].iter().for_each(|name| body.get_mut(name).into_iter().for_each(fill));
    body
}

/// The media type in `Content-Type`, without its parameters.
pub(crate) fn essence(headers: &HeaderMap) -> String {
    let value = headers.get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes())).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_lowercase()
}

fn is_of(template: &str, path: &str) -> bool {
    let same = |(expected, segment): (&str, &str)| expected == segment || expected.starts_with('{');
    template.split('/').count() == path.split('/').count() && template.split('/').zip(path.split('/')).all(same)
}

/// Calls `found` with each example in the document and its schema.
fn each_example<'a>(
    contract: &'a Contract,
    node: &'a Value,
    at: &str,
    found: &mut impl FnMut(&str, &'a Value, &'a Value),
) {
    if let Some(object) = node.as_object() {
        if let Some(schema) = object.get("schema") {
            object.get("example").into_iter().for_each(|example| found(at, schema, example));
            let named = object.get("examples").and_then(Value::as_object);
            named.into_iter().flatten().for_each(|(_, example)| found(at, schema, &contract.resolve(example)["value"]));
        }
        if at.starts_with("/components/schemas/") {
            let examples = object.get("examples").and_then(Value::as_array);
            examples.into_iter().flatten().for_each(|example| found(at, node, example));
        }
        object.iter().for_each(|(key, inner)| each_example(contract, inner, &format!("{at}/{key}"), found));
    }
}

#[test]
fn every_example_in_the_contract_fits_its_schema() {
    let mut examples = 0;
    each_example(&CONTRACT, &CONTRACT.document, "", &mut |at, schema, example| {
        examples += 1;
        let faults = CONTRACT.faults_of_value(schema, example);
        assert!(faults.is_empty(), "{at}: {example}: {faults:#?}");
    });
    assert!(examples > 80, "only {examples} examples were found");
}

#[test]
fn every_status_of_the_contract_has_an_example() {
    for (path, item) in CONTRACT.document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            for (status, response) in operation["responses"].as_object().expect("responses") {
                let content = CONTRACT.resolve(response)["content"].as_object();
                for (media_type, media) in content.into_iter().flatten() {
                    let has_example = media.get("example").is_some() || media.get("examples").is_some();
                    assert!(has_example, "{method} {path} {status} {media_type}");
                }
            }
        }
    }
}

#[test]
fn the_solutions_in_the_contract_stand_up_to_a_replay() {
    let solution = &CONTRACT.document["components"]["responses"]["Solution"];
    let examples = solution["content"]["application/json"]["examples"].as_object().expect("examples");
    for (name, example) in examples {
        assert_eq!(crate::simulator::faults_of_solution(&example["value"]), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_response_with_an_unknown_member_is_found() {
    let schema = json!({ "$ref": "#/components/schemas/NotFound" });
    let mut problem = json!({
        "type": "/problems/not-found", "title": "Not found", "status": 404, "detail": "nothing here",
        "instance": "/nowhere", "request_id": "1",
    });
    assert_eq!(CONTRACT.faults_of_value(&schema, &problem), Vec::<String>::new());
    problem["stack"] = json!("at main.rs:1");
    assert_ne!(CONTRACT.faults_of_value(&schema, &problem), Vec::<String>::new());
    let method = json!({ "name": "bfs", "colour": "red" });
    let schema = json!({ "$ref": "#/components/schemas/MethodFailed" });
    let faults = CONTRACT.faults_of_value(&schema, &method);
    assert!(faults.iter().any(|fault| fault.contains("colour")), "{faults:?}");
}

/// The schemas that a part of the document refers to, directly or not.
fn reachable(node: &Value, found: &mut HashSet<String>) {
    if let Some(name) = node["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/")) {
        if found.insert(name.to_owned()) {
            reachable(&CONTRACT.document["components"]["schemas"][name], found);
        }
    } else if node["$ref"].is_string() {
        reachable(CONTRACT.resolve(node), found);
    }
    members(node).into_iter().for_each(|(_, inner)| reachable(inner, found));
}

/// Calls `found` with each schema of an object within a schema.
fn each_object(schema: &Value, found: &mut impl FnMut(&Value)) {
    if schema["properties"].is_object() {
        found(schema);
    }
    for (name, inner) in members(schema) {
        if !["example", "examples", "not"].contains(&name) {
            each_object(inner, found);
        }
    }
}

#[test]
fn requests_are_strict_and_responses_open() {
    let is_strict = |object: &Value| {
        ["additionalProperties", "unevaluatedProperties"].iter().any(|name| object[*name] == Value::Bool(false))
    };
    let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
    for item in CONTRACT.document["paths"].as_object().expect("paths").values() {
        for operation in item.as_object().expect("operations").values() {
            reachable(&operation["requestBody"], &mut asked);
            reachable(&operation["responses"], &mut answered);
        }
    }
    let schemas = &CONTRACT.document["components"]["schemas"];
    let (mut strict, mut open) = (0, 0);
    for name in &asked {
        each_object(&schemas[name], &mut |object| {
            assert!(is_strict(object), "{name} is part of requests: {object}");
            strict += 1;
        });
    }
    // `/info` lists methods as requests have them.
    for name in answered.difference(&asked) {
        each_object(&schemas[name], &mut |object| {
            assert!(!is_strict(object), "{name} is part of responses: {object}");
            open += 1;
        });
    }
    assert!(strict >= 7 && open >= 40, "{strict} strict and {open} open objects");
}

#[test]
fn a_parameter_that_is_a_field_of_a_body_too_has_no_default() {
    let mut fields = 0;
    for item in CONTRACT.document["paths"].as_object().expect("paths").values() {
        let content = &item["post"]["requestBody"]["content"];
        let body = &content["application/json"]["schema"];
        // Parameters of lines are no fields of them.
        if body.is_null() || content["text/csv"].is_object() {
            continue;
        }
        let properties = &CONTRACT.resolve(body)["properties"];
        for parameter in item["post"]["parameters"].as_array().into_iter().flatten() {
            let parameter = CONTRACT.resolve(parameter);
            let name = parameter["name"].as_str().expect("a name").split('.').next().unwrap_or_default();
            if parameter["in"] != "query" {
                continue;
            }
            assert!(properties[name].is_object(), "{name} is no field of a body: {parameter}");
            let (mut names, schema) = (HashSet::new(), &parameter["schema"]);
            reachable(schema, &mut names);
            let schemas = names.iter().map(|name| &CONTRACT.document["components"]["schemas"][name]).chain([schema]);
            assert!(schemas.into_iter().all(|schema| schema["default"].is_null()), "{parameter}");
            fields += 1;
        }
    }
    assert!(fields > 40, "only {fields} parameters were found");
}

#[test]
fn operations_by_link_have_a_tag_of_their_own() {
    for (path, item) in CONTRACT.document["paths"].as_object().expect("paths") {
        let has_tag = |method: &str| item[method]["tags"].as_array().is_some_and(|tags| tags.contains(&json!("links")));
        let is_both = item["get"].is_object() && item["post"].is_object() && path != "/jobs";
        assert_eq!([has_tag("get"), has_tag("post")], [is_both, false], "{item}");
    }
}

#[test]
fn every_integer_has_a_format() {
    fn check(at: &str, node: &Value, found: &mut usize) {
        let types = &node["type"];
        if types == "integer" || types.as_array().is_some_and(|types| types.contains(&json!("integer"))) {
            assert!(node["format"] == "int32" || node["format"] == "int64", "{at}: {node}");
            let highest = node["maximum"].as_i64().unwrap_or_default();
            assert!(node["format"] == "int64" || highest <= i64::from(i32::MAX), "{at}: {node}");
            *found += 1;
        }
        members(node).into_iter().for_each(|(name, inner)| check(&format!("{at}/{name}"), inner, found));
    }
    let mut found = 0;
    check("", &CONTRACT.document, &mut found);
    assert!(found > 40, "only {found} integers were found");
}
