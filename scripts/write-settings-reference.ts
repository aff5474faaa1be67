import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSettingsReference } from '../core/config/index.ts';

const DOCS = join(import.meta.dirname, '../docs');
mkdirSync(DOCS, { recursive: true });
writeFileSync(join(DOCS, 'settings.md'), renderSettingsReference());
