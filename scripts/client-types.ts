import { join } from 'node:path';
import openapiTypes, { type OpenAPI3 } from 'openapi-typescript';
import { openApiDocument, TYPE_REFERENCES } from '../core/api/index.ts';

/** Where they are. */
export const CLIENT_TYPES = join(import.meta.dirname, '../clients/reelay-client/src/api-types.ts');

const HEADER = '/** Generated from the description of the API by `npm run dev -- docs`. */\n\n';

/** The types of the client package: those of the OpenAPI description, and the names of problems. */
export async function renderClientTypes(): Promise<string> {
  // The generator changes the document.
  const document = JSON.parse(JSON.stringify(openApiDocument)) as OpenAPI3;
  for (const operation of Object.values(document.paths ?? {}).flatMap((path) => Object.values(path)))
    operation.responses = withoutRepetition(operation.responses);
  const types = await openapiTypes(document, { commentHeader: HEADER, additionalProperties: false });
  const names = TYPE_REFERENCES.map((reference) => `\n  | '${reference.split('/').at(-1)}'`).join('');
  return `${types}\n/** The name in the \`type\` of problem details: \`/problems/NAME\` of an instance describes it. */\nexport type ProblemName =${names};\n`;
}

/** Responses without failures, which `ReelayError` describes, and with one form of JSON. */
function withoutRepetition(responses: Record<string, { content?: Record<string, unknown> }>) {
  const successes = Object.entries(responses).filter(([status]) => status < '400');
  for (const [, { content }] of successes)
    if (content?.['application/json']) for (const type of ['text/json', 'text/plain']) delete content[type];
  return Object.fromEntries(successes);
}
