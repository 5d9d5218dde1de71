import { Validator } from '@seriousme/openapi-schema-validator'

type Json = Readonly<Record<string, unknown>>

/** The errors that an OpenAPI validator finds in a document. */
export async function formComplaints(document: Json): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  return valid ? [] : [`The document is not OpenAPI 3.1: ${JSON.stringify(errors)}`]
}

/** Finds schemas without constraints, and fields typed `Json` although their shape is known. */
export function schemaComplaints(document: Json): string[] {
  const found = schemasIn(document)
  const allowed = [...anyJsonFields.keys()]
  const uses = found.filter(({ schema }) => schema.$ref === anyJson).map(({ path }) => path)
  return [
    ...found
      .filter(({ path, schema }) => isUnconstrained(schema) && !path.endsWith('/Json') && !noFields.has(path))
      .map(({ path }) => `${path} has no constraints: give it a schema.`),
    ...uses
      .filter((path) => !allowed.some((suffix) => path.endsWith(suffix)))
      .map((path) => `${path} is typed Json although its shape is known.`),
    ...allowed
      .filter((suffix) => !uses.some((path) => path.endsWith(suffix)))
      .map((suffix) => `${suffix} is listed as Json but has a schema: remove it from the list.`),
  ]
}

const anyJson = '#/components/schemas/Json'

/** Events whose data has no fields yet. */
const noFields = new Set(
  ['SandboxReady', 'SandboxPaused', 'SandboxResumed'].map(
    (name) => `/components/schemas/${name}Event/properties/data`,
  ),
)

/** Every field that may hold any JSON, by the end of its path, and the origin of its value. */
const anyJsonFields = new Map([
  ['/_meta/anyOf/0/additionalProperties', 'a message to an agent'],
  ['/v1/sandboxes/post/requestBody/properties/spec/additionalProperties', "the options of a user's provider"],
  ['ForeignEvent/properties/data/properties/data', 'a foreign event'],
  ['AgentMessageEvent/properties/data/properties/message', 'a message of an agent'],
  ['PromptQueuedEvent/properties/data/properties/prompt', 'a message to an agent'],
  ['PromptDroppedEvent/properties/data/properties/prompt', 'a message to an agent'],
  ['TurnStartedEvent/properties/data/properties/prompt', 'a message to an agent'],
  ['PermissionRequestedEvent/properties/data/properties/toolCall', 'the input of a tool'],
  ['QuestionRequestedEvent/properties/data/properties/schema', 'a message of an agent'],
  ['QuestionResolvedEvent/properties/data/properties/content', 'a message to an agent'],
  ['PendingPermission/properties/toolCall/additionalProperties', 'the input of a tool'],
  ['PendingQuestion/properties/schema/additionalProperties', 'a message of an agent'],
  ['TranscriptToolCall/properties/input', 'the input of a tool'],
  ['TranscriptToolCall/properties/output', 'a message of an agent'],
  ['ToolCallPiece/properties/input', 'the input of a tool'],
  ['ToolCallPiece/properties/output', 'a message of an agent'],
  ['QuestionPiece/properties/schema', 'a message of an agent'],
  ['QuestionPiece/properties/content', 'a message to an agent'],
  ['TranscriptQuestion/properties/schema', 'a message of an agent'],
  ['TranscriptQuestion/properties/content', 'a message to an agent'],
  ['ProblemDetail/anyOf/2/additionalProperties', 'the data of an error of an agent'],
  ['/prompt/post/requestBody/properties/prompt/anyOf/1/items/additionalProperties', 'a message to an agent'],
  ['/{question}/post/requestBody/properties/content/additionalProperties', 'a message to an agent'],
])

interface FoundSchema {
  /** Its path in the document, without the parts that every response and body has. */
  readonly path: string
  readonly schema: Json
}

/** Every schema of a document, including nested ones. */
function schemasIn(document: Json): FoundSchema[] {
  const found: FoundSchema[] = []
  const visit = (schema: unknown, path: string) => {
    if (typeof schema === 'boolean') return void (schema && found.push({ path, schema: {} }))
    if (!isObject(schema)) return
    found.push({ path, schema })
    for (const key of ['properties', 'patternProperties', '$defs'])
      for (const [name, inner] of entriesOf(schema[key])) visit(inner, `${path}/${key}/${name}`)
    for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
      for (const [name, inner] of entriesOf(schema[key])) visit(inner, `${path}/${key}/${name}`)
    for (const key of ['additionalProperties', 'items', 'not', 'propertyNames'])
      visit(schema[key], `${path}/${key}`)
  }
  const walk = (value: unknown, path: string) => {
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'schema' || name === 'x-messages') visit(inner, path)
      else if (name === 'schemas' || name === 'x-events')
        for (const [event, schema] of entriesOf(inner)) visit(schema, `${path}/${name}/${event}`)
      else walk(inner, /^(content|application\/json)$/.test(name) ? path : `${path}/${name}`)
    }
  }
  walk(document, '')
  return found
}

const annotations = ['description', 'title', 'deprecated', 'default', 'example', 'examples']

/** Whether a schema accepts any value, or any object. */
function isUnconstrained(schema: Json): boolean {
  const keywords = Object.keys(schema).filter((key) => !annotations.includes(key))
  if (keywords.length === 0) return true
  const hasFields = entriesOf(schema.properties).length > 0 || isObject(schema.additionalProperties)
  return schema.type === 'object' && !hasFields && !('anyOf' in schema || 'oneOf' in schema)
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}
