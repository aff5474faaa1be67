import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/** What is read of an OpenAPI 3.0 document. */
export interface OpenApiResponses {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationResponses>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface OperationResponses {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}

/** Validates JSON bodies against the schemas of an OpenAPI document. */
export interface ResponseValidator {
  /** The schema of an operation's response; undefined when the document has none. */
  schemaOf(method: string, path: string, status: number, mediaType?: string): object | undefined;
  /** Why a value does not match a schema; undefined when it does. */
  findError(schema: object, value: unknown): string | undefined;
}

const PROBLEM = { $ref: '#/components/schemas/ProblemDetails' };

/** @param document whose schemas may refer to its components */
export function createResponseValidator(document: OpenApiResponses): ResponseValidator & { readonly problem: object } {
  const ajv = new Ajv({ strict: true, allErrors: true, validateFormats: true });
  formats.default(ajv, { formats: ['int32', 'int64', 'double', 'float', 'date-time', 'uri'] });
  // Ajv resolves references within one JSON Schema document.
  ajv.addSchema({ $id: 'https://api.invalid/', components: document.components }, undefined, false, false);
  ajv.addKeyword('components');
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  return {
    problem: PROBLEM,
    schemaOf: (method, path, status, mediaType = 'application/json') =>
      document.paths[path]?.[method.toLowerCase()]?.responses[status]?.content?.[mediaType]?.schema,
    findError(schema, value) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"https://api.invalid/#/');
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      return validate(value) ? undefined : ajv.errorsText(validate.errors);
    },
  };
}
