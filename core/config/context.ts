import { settingsTable } from './deployment-settings.ts';
import { SettingError } from './parsers.ts';
import type { ContextValues, Recipient, Setting } from './setting.ts';

/** The settings of a deployment, by context name, with the constant defaults. */
export type ContextSettings = ContextValues<typeof settingsTable>;

/** Every setting, by its name in CDK context. */
const byContextName: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.entries<Setting<unknown>>(settingsTable).map(([name, setting]) => [setting.context ?? name, setting]),
);

/** Names of CDK's own context without a prefix; all others contain a colon or an at sign. */
const CDK_NAMES = ['cli-telemetry', 'acknowledged-issue-numbers'];
const isOfCdk = (name: string): boolean => /[:@]/.test(name) || CDK_NAMES.includes(name);

/**
 * Reads the settings from CDK context. CDK's own names are skipped; a blank value counts as unset.
 * @throws SettingError in one line that names the setting
 */
export function readContextSettings(context: Readonly<Record<string, unknown>>): ContextSettings {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of byContextName) {
    if (setting.scope !== 'one-machine' && setting.default !== undefined) values[name] = setting.default;
  }
  for (const [name, value] of Object.entries(context)) {
    if (isOfCdk(name)) continue;
    const setting = byContextName.get(name);
    if (!setting)
      throw new SettingError(`${name} is not a setting of this service; the nearest one is ${nearestName(name)}`);
    if (setting.scope === 'one-machine') {
      throw new SettingError(`${name} ${setting.contextError ?? 'is for the service on one machine'}`);
    }
    const text = contextText(name, value, setting.separator);
    if (text !== '') values[name] = setting.parse(name, text);
  }
  return values as ContextSettings;
}

/** The setting whose name differs least: case, hyphens and underscores do not count. */
function nearestName(name: string): string {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '');
  const known = [...byContextName].filter(([, { scope }]) => scope !== 'one-machine').map(([found]) => found);
  const distances = known.map((found) => ({ found, distance: countEdits(plain(name), plain(found)) }));
  return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).found;
}

/** Insertions, deletions and substitutions of letters that make one text of another (Levenshtein). */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [index, wanted] of [...other].entries()) {
      const substituted = (row[index] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(substituted, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** A context value (text, number, boolean or list; `-c` always passes text) as one text. */
function contextText(name: string, value: unknown, separator = ','): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((item) => contextText(name, item)).join(separator);
  if (typeof value === 'object') throw new SettingError(`${name} must be a plain value, not an object`);
  return String(value).trim();
}

/** The environment variables by which a process in AWS receives its settings; unset and empty ones are left out. */
export function variablesFor(recipient: Recipient, settings: ContextSettings): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, { variable, passedTo, separator }] of byContextName) {
    const text = variableText(settings[name as keyof ContextSettings], separator);
    if (variable && text !== '' && passedTo?.includes(recipient)) variables[variable] = text;
  }
  return variables;
}

/** A value as its parser reads it. */
function variableText(value: unknown, separator = ','): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) ? value.join(separator) : String(value);
}
