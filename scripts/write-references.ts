/** `npm run dev -- docs`: writes what is generated from the code: references in `docs`, the types of the client and the table of regions. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderOperationTables } from '../core/api/index.ts';
import { renderSettingsReference } from '../core/config/index.ts';
import { CLIENT_TYPES, renderClientTypes } from './client-types.ts';

const DOCS = join(import.meta.dirname, '../docs');
const api = join(DOCS, 'api.md');
writeFileSync(api, renderOperationTables(readFileSync(api, 'utf8')));
writeFileSync(join(DOCS, 'settings.md'), renderSettingsReference());
writeFileSync(CLIENT_TYPES, renderClientTypes());
// It synthesizes every deployment.
await import('../test/infra/write-regions.ts');
