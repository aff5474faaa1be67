/** `npm run dev -- mutation`: mutation testing of the pure modules by Stryker. Arguments go to Stryker: `--mutate packages/source/src/request-headers.ts`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const STRYKER = resolve(import.meta.dirname, '../node_modules/.bin/stryker');

const [code] = await once(spawn(STRYKER, ['run', ...process.argv.slice(2)], { stdio: 'inherit' }), 'exit');
process.exitCode = code ?? 1;
