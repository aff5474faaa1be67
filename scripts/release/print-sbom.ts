/** `npm run sbom`: the software bill of materials (CycloneDX) of what runs, by the lockfile of the work tree. */
import { resolve } from 'node:path';
import { makeSbom } from './sbom.ts';
import { readCommit } from './source-archive.ts';

const ROOT = resolve(import.meta.dirname, '../..');
process.stdout.write(await makeSbom(ROOT, await readCommit(ROOT)));
