/** Writes `infra/regions.json`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILE_NAMES, template } from './deployments.ts';
import { findMissingTypes, renderRegionTable } from './region-reference.ts';

const table = findMissingTypes(Object.fromEntries(PROFILE_NAMES.map((name) => [name, template(name)])) as never);
writeFileSync(join(import.meta.dirname, '../../infra/regions.json'), renderRegionTable(table));
