import { JSON_TYPES } from '../http/index.ts';
import { type Operation, operations, type Parameter, type ResponseShape } from './operations.ts';
import { schemas } from './schemas.ts';

const ANY_OBJECT = { type: 'object', additionalProperties: true };

/** The machine-readable description of the API: OpenAPI 3.0. */
export const openApiDocument = {
  openapi: '3.0.3',
  info: {
    title: 'Reelay',
    version: '1.0',
    description: 'Turns a media link into metadata and renditions and streams the one you choose.',
  },
  paths: Object.fromEntries(
    operations.map((operation) => [operation.path, { [methodOf(operation)]: describe(operation) }]),
  ),
  // Plain JSON: TypeBox attaches symbols to its schemas that are not part of the description.
  components: { schemas: JSON.parse(JSON.stringify(schemas)) as Record<string, object> },
};

/** The description of a private instance: every operation but GetAppInfo needs a key, in either header. */
export const privateOpenApiDocument = {
  ...openApiDocument,
  security: [{ bearer: [] }, { apiKey: [] }],
  paths: Object.fromEntries(
    Object.entries(openApiDocument.paths).map(([path, methods]) => [path, withoutKey(methods)]),
  ),
  components: {
    ...openApiDocument.components,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An access key of the instance' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'An access key of the instance' },
    },
  },
};

/** HEAD and OPTIONS are not described. */
function methodOf({ methods }: Operation): string {
  return methods.includes('POST') ? 'post' : 'get';
}

/** GetAppInfo needs no key. */
function withoutKey(methods: Record<string, ReturnType<typeof describe>>) {
  return methods.get?.operationId === 'GetAppInfo' ? { get: { ...methods.get, security: [] } } : methods;
}

function describe({ operationId, path, summary, parameters, body: sent, responses }: Operation) {
  return {
    tags: [path.split('/')[2] ?? operationId],
    operationId,
    summary,
    ...(sent && {
      requestBody: {
        required: true,
        description: sent,
        content: { 'application/json': { schema: ANY_OBJECT } },
      },
    }),
    ...(parameters.length > 0 && {
      parameters: parameters.map(describeParameter),
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, shape]) => [status, { description: shape.description, ...body(shape) }]),
    ),
  };
}

function describeParameter({ values, examples, ...parameter }: Parameter) {
  return {
    ...parameter,
    schema: { type: 'string', ...(values && { enum: values }) },
    // Blank is absent, which an enumeration would exclude.
    ...(values && parameter.in === 'query' && { allowEmptyValue: true }),
    ...(examples && { examples: Object.fromEntries(examples.map((value) => [value, { value }])) }),
  };
}

function body({ schema, media = [] }: ResponseShape) {
  const shapes = schema
    ? JSON_TYPES.map((type) => [type, { schema: { $ref: `#/components/schemas/${schema}` } }])
    : media.map((type) => [type, schemaOfMedia(type)]);
  return { content: Object.fromEntries(shapes) as Record<string, object> };
}

function schemaOfMedia(type: string): object {
  if (type === 'application/json') return { schema: ANY_OBJECT };
  // OpenAPI 3.0 has no schema for events, and readers disagree on what it would be of.
  return type === 'text/event-stream' ? {} : { schema: { type: 'string', format: 'binary' } };
}
