import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderProblemReference } from '../core/api/index.ts';

writeFileSync(join(import.meta.dirname, '../docs/problems.md'), renderProblemReference());
