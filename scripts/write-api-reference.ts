import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderOperationTables, renderProblemReference } from '../core/api/index.ts';

const DOCS = join(import.meta.dirname, '../docs');
const api = join(DOCS, 'api.md');
writeFileSync(api, renderOperationTables(readFileSync(api, 'utf8')));
writeFileSync(join(DOCS, 'problems.md'), renderProblemReference());
