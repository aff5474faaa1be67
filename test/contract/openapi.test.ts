import { describe, expect, it } from 'vitest';
import type { Schema } from './api-document.ts';
import {
  ADDED_OBJECTS,
  ADDED_OPERATIONS,
  ADDITIONS,
  ENUMERATIONS,
  ERROR_BODY,
  OBJECTS,
  OPERATIONS,
} from './contract-tables.ts';
import { ANY_INSTANCE, useTarget } from './target.ts';

const target = useTarget();
const JSON_TYPES = ['text/plain', 'application/json', 'text/json'];
const schemaOf = (name: string): Schema => target.api.json.components.schemas[name] ?? {};

/** A schema in the notation of the contract's tables: `string`, `int64?` (nullable), `MediaType`, `MediaRendition[]?`. */
function describeSchema(schema: Schema = {}): string {
  const { $ref, type = '', format, nullable, items } = schema;
  const name = $ref?.split('/').at(-1);
  const base = name ?? (type === 'array' ? `${describeSchema(items)}[]` : (format ?? type));
  return nullable ? `${base}?` : base;
}

describe('OpenAPI document', ANY_INSTANCE, () => {
  it('is an OpenAPI 3.0 document of version 1.0 with a title', async () => {
    const answer = await target.get('/swagger/v1/swagger.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(target.api.json.openapi).toMatch(/^3\.0\.\d$/);
    expect(target.api.json.info).toMatchObject({ title: expect.stringMatching(/\S/), version: '1.0' });
  });

  it('has the objects of the contract and no others', () => {
    const names = [...Object.keys(OBJECTS), ...Object.keys(ENUMERATIONS), 'ProblemDetails'];
    expect(Object.keys(target.api.json.components.schemas)).toEqual(expect.arrayContaining(names));
  });

  const objects = Object.entries({ ...OBJECTS, ...ADDED_OBJECTS });
  it.each(objects)('%s has exactly the fields of its table', (name, { fields, required }) => {
    const schema = schemaOf(name);
    const described = Object.entries(schema.properties ?? {}).map(([field, type]) => [field, describeSchema(type)]);
    expect(Object.fromEntries(described)).toEqual(fields);
    expect([...(schema.required ?? [])].sort()).toEqual([...required].sort());
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it.each(Object.entries(ENUMERATIONS))('%s has exactly the values of its table', (name, values) => {
    expect(schemaOf(name)).toMatchObject({ type: 'string', enum: values });
  });

  it('has an error body that permits further properties', () => {
    const schema = schemaOf('ProblemDetails');
    const described = Object.entries(schema.properties ?? {}).map(([field, type]) => [field, describeSchema(type)]);
    expect(Object.fromEntries(described)).toEqual(ERROR_BODY);
    expect(schema.additionalProperties).not.toBe(false);
    expect(schema.required ?? []).toEqual([]);
  });

  it('has the paths of the contract, and those that are listed as added', () => {
    const operations = Object.entries(target.api.json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual([...Object.keys(OPERATIONS), ...ADDED_OPERATIONS].sort());
  });

  it.each(Object.entries(OPERATIONS))(
    '%s has the parameters and responses of its table',
    (name, { operationId, ...table }) => {
      const added = ADDITIONS[name];
      const parameters = [...table.parameters, ...(added?.parameters ?? [])];
      const responses = { ...table.responses, ...added?.responses };
      const [method = '', path = ''] = name.split(' ');
      const operation = target.api.json.paths[path]?.[method.toLowerCase()];
      expect(operation?.operationId).toBe(operationId);
      const described = (operation?.parameters ?? []).map(
        ({ name, in: place, required = false, schema }) =>
          `${place} ${name} ${schema.type}${required ? ' required' : ''}`,
      );
      expect(described).toEqual(parameters);
      expect(Object.keys(operation?.responses ?? {})).toEqual(Object.keys(responses));

      for (const [status, body] of Object.entries(responses)) {
        const content = operation?.responses[status]?.content ?? {};
        if (body === undefined) continue;
        expect(Object.keys(content).sort(), status).toEqual([...JSON_TYPES].sort());
        for (const type of JSON_TYPES) expect(describeSchema(content[type]?.schema), `${status} ${type}`).toBe(body);
      }
    },
  );

  it('uses only keywords of OpenAPI 3.0', () => {
    const text = JSON.stringify(target.api.json);
    expect(text).not.toMatch(/"type":\s*(\[|"null")|"const":|"\$id":|"exclusiveMinimum":\d|"~/);
  });
});
