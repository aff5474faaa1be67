/** Writes `infra/regions.json` and `docs/regions.md`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILE_NAMES, template } from './deployments.ts';
import { findMissingTypes, renderRegionReference, renderRegionTable } from './region-reference.ts';

const ROOT = join(import.meta.dirname, '../..');
const table = findMissingTypes(Object.fromEntries(PROFILE_NAMES.map((name) => [name, template(name)])) as never);
writeFileSync(join(ROOT, 'infra/regions.json'), renderRegionTable(table));
writeFileSync(join(ROOT, 'docs/regions.md'), renderRegionReference(table));
