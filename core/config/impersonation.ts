import { defineParser, SettingError, splitList } from './parsers.ts';
import { parseSitePattern, type SitePattern } from './site-pattern.ts';

/** Which browser the requests of yt-dlp to a site imitate. */
export interface ImpersonationRule {
  /** Absent: every site that no other rule names. */
  readonly site?: SitePattern;
  /** As `--impersonate` of yt-dlp, in lower case: `chrome`, `chrome-131`, `chrome:windows-10`. */
  readonly target: string;
}

const RULE = /^(?:([^=]+)=)?([a-z]+(?:-[\d.]+)?(?::[a-z]+(?:-[\d.]+)?)?)$/i;

/** Parses `target` or `site=target`. Undefined when it is something else. */
export function parseImpersonationRule(text: string): ImpersonationRule | undefined {
  const [, pattern, target] = RULE.exec(text) ?? [];
  const site = pattern === undefined ? undefined : parseSitePattern(pattern);
  if (!target || (pattern !== undefined && !site)) return undefined;
  return { site, target: target.toLowerCase() };
}

const IMPERSONATE =
  'a comma list of browsers such as chrome or site=chrome-131:macos, at most one of them without a site';

/** Rules for impersonation, as text. */
export const impersonate = defineParser(IMPERSONATE, (name, text): string[] => {
  const items = splitList(text);
  const rules = items.map(parseImpersonationRule);
  const invalid = rules.findIndex((rule) => !rule);
  if (invalid >= 0) throw new SettingError(`${name} must be ${IMPERSONATE}; entry ${invalid + 1} is something else`);
  if (rules.filter((rule) => !rule?.site).length > 1) throw new SettingError(`${name} must be ${IMPERSONATE}`);
  return items;
});
