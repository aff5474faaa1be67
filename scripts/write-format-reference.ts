import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderFormatReference } from '../core/resolve/index.ts';

writeFileSync(join(import.meta.dirname, '../docs/format-fields.md'), renderFormatReference());
