import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'vitest';
import type { ReceivedResponse } from '../support/request.ts';

/** What the tests read of an OpenAPI 3.0 document. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: Schema }>> }>>;
}

export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface ApiDocument {
  readonly json: OpenApi;
  /** Validates a response against the schema of its operation and status; returns the parsed body. */
  expectAnswer(method: string, path: string, answer: ReceivedResponse): unknown;
}

const JSON_TYPES = ['application/json', 'text/json', 'text/plain'];

/** Statuses that this service adds to those of the document, with the document's own error body. */
const ADDED_STATUSES = [404, 405, 429, 500, 502, 503];

export function createApiDocument(json: OpenApi): ApiDocument {
  const ajv = new Ajv({ strict: true, allErrors: true, validateFormats: true });
  formats.default(ajv, { formats: ['int32', 'int64', 'double', 'float', 'date-time', 'uri'] });
  // Ajv resolves references within one JSON Schema document.
  ajv.addSchema({ $id: 'https://api.invalid/', components: json.components }, undefined, false, false);
  ajv.addKeyword('components');
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

  function expectSchema(schema: object, value: unknown): void {
    const text = JSON.stringify(schema).replaceAll('"#/', '"https://api.invalid/#/');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    if (!validate(value)) expect.fail(`${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }

  return {
    json,
    expectAnswer: (method, path, { status, headers, body }) => {
      const type = headers['content-type']?.split(';')[0] ?? '';
      expect(JSON_TYPES, `content type of ${status} ${path}`).toContain(type);
      const value: unknown = JSON.parse(body.toString());
      const response = json.paths[path]?.[method.toLowerCase()]?.responses[status];
      if (!response) expect(ADDED_STATUSES, `status of ${method} ${path}`).toContain(status);
      const schema = response ? response.content?.[type]?.schema : { $ref: '#/components/schemas/ProblemDetails' };
      if (schema) expectSchema(schema, value);
      if (status >= 400) expectProblem(status, value);
      return value;
    },
  };
}

/** Expects an answer of this status with an error body. @returns the body */
export function expectFailure(answer: ReceivedResponse, status: number, reason?: string) {
  expect(answer.status, reason).toBe(status);
  const problem = JSON.parse(answer.body.toString());
  expectProblem(status, problem);
  return problem;
}

/** The rules of an error body that the schema does not express. */
export function expectProblem(status: number, value: unknown): void {
  const problem = value as Record<string, unknown>;
  const type = expect.stringMatching(/^\/problems\/[a-z-]+$/);
  expect(problem).toMatchObject({ type, status, title: expect.stringMatching(/\S/) });
  if (status === 415 || status === 503) expect(problem.detail).toEqual(expect.stringMatching(/\S/));
  else expect(problem).not.toHaveProperty('detail');
  // Absent fields are omitted.
  expect(Object.values(problem)).not.toContain(null);
}
