/**
 * `npm run dev -- docs`: writes what is generated from the code, the tables of docs/api.md, the types of the client and the table of regions.
 * `docs settings`, `docs ranking` and `docs regions` print what no document repeats.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderOperationTables } from '../core/api/index.ts';
import { renderSettingsReference } from '../core/config/index.ts';
import { audioCriteria, partnerCriteria, videoCriteria } from '../core/resolve/renditions/index.ts';
import { CLIENT_TYPES, renderClientTypes } from './client-types.ts';

const PRINTED: Readonly<Record<string, () => string | Promise<string>>> = {
  settings: renderSettingsReference,
  ranking: renderRanking,
  // It loads the CDK.
  regions: async () => (await import('../infra/index.ts')).renderRegions(),
};

const [name] = process.argv.slice(2);
if (name === undefined) await writeAll();
else if (PRINTED[name]) process.stdout.write(`${await PRINTED[name]()}\n`);
else {
  process.stderr.write(`There is no ${name}: give ${Object.keys(PRINTED).join(', ')}, or nothing\n`);
  process.exitCode = 2;
}

async function writeAll(): Promise<void> {
  const api = join(import.meta.dirname, '../docs/api.md');
  writeFileSync(api, renderOperationTables(readFileSync(api, 'utf8')));
  writeFileSync(CLIENT_TYPES, renderClientTypes());
  // It synthesizes every deployment.
  await import('../test/infra/write-regions.ts');
}

function renderRanking(): string {
  const video = { track: { audio: null } } as unknown as Parameters<typeof partnerCriteria>[0];
  const lists: [string, readonly { readonly name: string }[]][] = [
    ['Formats with video', videoCriteria],
    ['Audio-only formats, and the source of conversions', audioCriteria],
    ['The audio of a video without audio', partnerCriteria(video)],
  ];
  return lists
    .map(([title, criteria]) =>
      [title, ...criteria.map(({ name: first }, index) => `${index + 1}. ${first}`)].join('\n'),
    )
    .join('\n\n');
}
