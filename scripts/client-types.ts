import { join } from 'node:path';
import {
  IS_ALWAYS_THERE,
  IS_NEVER_NULL,
  type OperationId,
  operationsById,
  schemas,
  TYPE_REFERENCES,
} from '../core/api/index.ts';

/** Where they are. */
export const CLIENT_TYPES = join(import.meta.dirname, '../clients/reelay-client/src/api-types.ts');

/** A schema of the API, as far as it says what type its values have. */
interface TypedSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: TypedSchema;
  readonly properties?: Readonly<Record<string, TypedSchema>>;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  readonly description?: string;
  readonly [IS_ALWAYS_THERE]?: boolean;
  readonly [IS_NEVER_NULL]?: boolean;
}

/**
 * The types of the client package as text: the schemas, the parameters of `/api/Get` and `/api/Stream/Media`, and the names of
 * problems. The package is published by itself, so that it cannot import the schemas: they would bring TypeBox, and the service.
 */
export function renderClientTypes(): string {
  const parts = [
    '/** Generated from the schemas of the API by `npm run dev -- docs`. */',
    ...Object.entries(schemas).map(([name, schema]) => declare(name, schema as TypedSchema)),
    `/** What \`/api/Get\` selects and how it is sent: \`{ quality: '1080p' }\`, \`{ quality: 'mp3', bitrate: '320' }\`. */
export type Selection = {\n${propertiesOf(parametersOf('Get', ['url']))}};`,
    `/** How \`/api/Stream/Media\` sends a rendition. */
export type StreamParameters = {\n${propertiesOf(parametersOf('Media'))}};`,
    `/** The name in the \`type\` of problem details: \`/problems/NAME\` of an instance describes it. */
export type ProblemName =${TYPE_REFERENCES.map((reference) => `\n  | '${reference.split('/').at(-1)}'`).join('')};`,
  ];
  return `${parts.join('\n\n')}\n`;
}

const declare = (name: string, schema: TypedSchema): string =>
  schema.type === 'object'
    ? `export interface ${name} {\n${propertiesOf(schema)}}`
    : `export type ${name} = ${typeOf(schema)};`;

const propertiesOf = ({ properties = {}, required = [] }: TypedSchema): string =>
  Object.entries(properties)
    .map(([name, schema]) => {
      const isThere = required.includes(name) || schema[IS_ALWAYS_THERE];
      const comment = schema.description ? `  /** ${schema.description} */\n` : '';
      return `${comment}  ${name}${isThere ? '' : '?'}: ${typeOf(schema)};\n`;
    })
    .join('');

function typeOf(schema: TypedSchema): string {
  const { $ref, type = '', enum: values, items, nullable } = schema;
  const named = $ref?.split('/').at(-1) ?? values?.map((value) => `'${value}'`).join(' | ');
  const plain = named ?? (items ? `${typeOf(items)}[]` : type.replace('integer', 'number'));
  return nullable && !schema[IS_NEVER_NULL] ? `${plain} | null` : plain;
}

/** The parameters in the query of an operation; each can be left out. */
function parametersOf(operationId: OperationId, omitted: readonly string[] = []): TypedSchema {
  const parameters = operationsById[operationId].parameters.filter(
    (parameter) => parameter.in === 'query' && !omitted.includes(parameter.name),
  );
  const properties = parameters.map(({ name, description, values }): [string, TypedSchema] => [
    name,
    { type: 'string', description, ...(values && { enum: values }) },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
