/** Stores and counts without end, and prints the number of each record once it is stored and counted. */
import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';

const [, , dir = '', first = '0'] = process.argv;
const storage = openSqliteStorage({ dir });
const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;

for (let index = Number(first); ; index++) {
  const data = new Uint8Array(20_000).fill(index % 256);
  await Promise.all([storage.put({ pk: `resource#${index}`, expiresAt, v: 1, data }), storage.addRequest()]);
  writeSync(1, `${index}\n`);
}
