import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypes, { type OpenAPI3 } from 'openapi-typescript';
import { openApiDocument, TYPE_REFERENCES } from '../core/api/index.ts';

const HEADER = '/** Generated from the description of the API by `npm run client:types`. */\n\n';

/** The types of the client package: those of the OpenAPI description, and the names of problems. */
export async function renderClientTypes(): Promise<string> {
  // The generator changes the document.
  const document = JSON.parse(JSON.stringify(openApiDocument)) as OpenAPI3;
  const types = await openapiTypes(document, { commentHeader: HEADER, additionalProperties: false });
  const names = TYPE_REFERENCES.map((reference) => `\n  | '${reference.split('/').at(-1)}'`).join('');
  return `${types}\n/** The name in the \`type\` of problem details: \`/problems/NAME\` of an instance describes it. */\nexport type ProblemName =${names};\n`;
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '../clients/reelay-client/src/api-types.ts');
  writeFileSync(file, await renderClientTypes());
}
