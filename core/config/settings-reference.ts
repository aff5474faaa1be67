import { settingsTable } from './deployment-settings.ts';
import type { Setting } from './setting.ts';

const HEAD = `# Settings

On one machine a setting is an environment variable; in AWS it is CDK context (\`-c name=value\`, or \`context\` in
\`cdk.json\`). A blank value counts as unset. An invalid value stops the start, or the deployment, with one line that names
the setting.
`;

const SECTIONS = [
  ['both', 'On one machine and in AWS'],
  ['one-machine', 'On one machine only'],
  ['aws', 'In AWS only'],
] as const;

/** `npm run dev -- docs settings`: one table of settings for each scope. */
export const renderSettingsReference = (): string =>
  [HEAD, ...SECTIONS.map(([scope, title]) => section(title, scope))].join('\n');

function section(title: string, scope: Setting<unknown>['scope']): string {
  const settings = Object.entries<Setting<unknown>>(settingsTable).filter(([, setting]) => setting.scope === scope);
  const names = [scope === 'aws' ? [] : ['Variable'], scope === 'one-machine' ? [] : ['CDK context']].flat();
  const rows = settings.map(([name, setting]) => [
    ...(scope === 'aws' ? [] : [`\`${setting.variable}\``]),
    ...(scope === 'one-machine' ? [] : [`\`${setting.context ?? name}\``]),
    valueText(setting.parse.accepts),
    defaultText(setting),
    setting.description,
  ]);
  return [`## ${title}\n`, ...renderTable([...names, 'Value', 'Default', 'Consequence'], rows), ''].join('\n');
}

/** As in error messages, but shorter, with URLs as code. */
const valueText = (accepts: string): string =>
  accepts.replace(/^(?:a whole number from|one of) /, '').replace(/https?:\/\/[^\s,]+|\*$/g, '`$&`');

function defaultText({ default: value, defaultText: text }: Setting<unknown>): string {
  if (text !== undefined) return text;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return `\`${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}\``;
}

const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
