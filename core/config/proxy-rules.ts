import { defineParser, SettingError, splitList } from './parsers.ts';
import { parseSitePattern, type SitePattern } from './site-pattern.ts';

/** Which connections the resolves of a site use. */
export interface ProxyRule extends SitePattern {
  /** The position of an outgoing proxy, from 1. */
  readonly proxy: number | 'direct';
}

const RULE = /^([^=]+)=(direct|[1-9]\d{0,3})$/i;

/** Parses `host=position`, `*.host=position` or `host=direct`. Undefined when it is something else. */
export function parseProxyRule(text: string): ProxyRule | undefined {
  const [, site = '', target = ''] = RULE.exec(text) ?? [];
  const pattern = parseSitePattern(site);
  return pattern && { ...pattern, proxy: /^direct$/i.test(target) ? 'direct' : Number(target) };
}

const PROXY_RULES = 'a comma list of host=position in OUTGOING_PROXIES, from 1, or host=direct';

/** Rules for the outgoing proxies of single sites, as text. The error line names an entry by its number alone. */
export const proxyRules = defineParser(PROXY_RULES, (name, text): string[] =>
  splitList(text).map((item, index) => {
    if (parseProxyRule(item)) return item;
    // An entry may be a proxy that was put into the wrong variable.
    throw new SettingError(`${name} must be ${PROXY_RULES}; entry ${index + 1} is something else`);
  }),
);

/** @throws SettingError when a rule names a position that has no proxy */
export function checkProxyRules(name: string, rules: readonly string[], proxyCount: number): void {
  const index = rules.findIndex((rule) => Number(parseProxyRule(rule)?.proxy) > proxyCount);
  if (index >= 0)
    throw new SettingError(`${name} must be ${PROXY_RULES}; entry ${index + 1} is beyond its ${proxyCount} proxies`);
}
