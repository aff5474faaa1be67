import { readFileSync, statSync } from 'node:fs';
import { type Finding, findingsOn } from './finding.ts';

const FIELDS = 7;
const EXPIRES = 4;
const OTHERS = 0o077;

/**
 * The operator's cookies: whether some are still valid, and who can read them. The file itself is valid: settings check
 * it.
 */
export function checkCookies(file: string | undefined, nowSeconds = Date.now() / 1000): Finding | undefined {
  if (file === undefined) return undefined;
  const { ok, warning, problem } = findingsOn('Cookies');
  const rows = readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .map((line) => line.replace(/^#HttpOnly_/, '').split('\t'))
    .filter((fields) => fields.length === FIELDS && !fields[0]?.startsWith('#'));
  if (rows.length === 0) return problem(`${file} has no cookies: export them again`);
  // 0: until the browser is closed.
  const valid = rows.filter((fields) => Number(fields[EXPIRES]) === 0 || Number(fields[EXPIRES]) > nowSeconds);
  if (valid.length === 0) return problem(`every cookie of ${file} has expired: export them again`);
  if ((statSync(file).mode & OTHERS) !== 0) return warning(`other users can read ${file}: chmod 600`);
  return ok(`${valid.length} of ${rows.length} cookies of ${file} are valid`);
}
