#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { runProgram } from './index.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
await runProgram(version);
