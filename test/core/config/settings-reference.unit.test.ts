import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderSettingsReference } from '../../../core/config/settings-reference.ts';

it('docs/settings.md matches the settings table; otherwise run npm run dev -- docs', () => {
  const file = join(import.meta.dirname, '../../../docs/settings.md');
  expect(readFileSync(file, 'utf8')).toBe(renderSettingsReference());
});
