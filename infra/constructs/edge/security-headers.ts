import { existsSync, readFileSync } from 'node:fs';
import { Duration } from 'aws-cdk-lib';
import { HeadersFrameOption, HeadersReferrerPolicy, ResponseHeadersPolicy } from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { regionalName } from '../shared/index.ts';

/** Headers of the page when its build provides no headers file. */
const PAGE_DEFAULT_HEADERS: Headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};
/** Headers of every response: HTTPS only, no MIME sniffing, no Referer. */
const COMMON_HEADERS: Headers = {
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/** Response headers by name. */
export type Headers = Readonly<Record<string, string>>;

/** Headers of the page, from its headers file if that exists. @throws Error when the file is not an object of strings */
export function pageHeaders(file: string): Headers {
  if (!existsSync(file)) return { ...COMMON_HEADERS, ...PAGE_DEFAULT_HEADERS };
  const headers: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const areHeaders = typeof headers === 'object' && headers !== null && !Array.isArray(headers);
  if (!areHeaders || Object.values(headers).some((value) => typeof value !== 'string')) {
    throw new Error(`${file} must be an object of header names and their values`);
  }
  return { ...COMMON_HEADERS, ...(headers as Headers) };
}

/** Headers of API and stream responses. */
export const apiHeaders = (): Headers => COMMON_HEADERS;

/**
 * A response headers policy that sets these headers. CloudFront has a property for each security header and accepts only
 * the others as custom headers.
 * @throws Error when a security header has a value that CloudFront cannot express
 */
export function createHeadersPolicy(scope: Construct, id: string, headers: Headers): ResponseHeadersPolicy {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const take = (name: string): string | undefined => {
    const value = byName.get(name);
    byName.delete(name);
    return value;
  };
  const contentSecurityPolicy = take('content-security-policy');
  const frameOption = take('x-frame-options');
  const referrerPolicy = take('referrer-policy');
  const transport = take('strict-transport-security');
  const contentTypeOptions = take('x-content-type-options');
  return new ResponseHeadersPolicy(scope, id, {
    responseHeadersPolicyName: regionalName(scope, id),
    comment: `Reelay ${id}`,
    securityHeadersBehavior: {
      ...(contentSecurityPolicy && { contentSecurityPolicy: { contentSecurityPolicy, override: true } }),
      ...(frameOption && { frameOptions: { frameOption: parseFrameOption(frameOption), override: true } }),
      ...(referrerPolicy && {
        referrerPolicy: { referrerPolicy: parseReferrerPolicy(referrerPolicy), override: true },
      }),
      ...(transport && { strictTransportSecurity: { ...parseTransportSecurity(transport), override: true } }),
      ...(contentTypeOptions && { contentTypeOptions: { override: true } }),
    },
    ...(byName.size > 0 && {
      customHeadersBehavior: {
        customHeaders: [...byName].map(([header, value]) => ({ header, value, override: true })),
      },
    }),
  });
}

const parseFrameOption = (value: string): HeadersFrameOption =>
  parseChoice('X-Frame-Options', Object.values(HeadersFrameOption), value);

const parseReferrerPolicy = (value: string): HeadersReferrerPolicy =>
  parseChoice('Referrer-Policy', Object.values(HeadersReferrerPolicy), value);

function parseTransportSecurity(value: string) {
  const [, seconds = ''] = /max-age=(\d+)/i.exec(value) ?? [];
  if (!seconds) throw new Error(`Strict-Transport-Security must have a max-age, not ${value}`);
  return {
    accessControlMaxAge: Duration.seconds(Number(seconds)),
    includeSubdomains: /includeSubDomains/i.test(value),
    preload: /preload/i.test(value),
  };
}

function parseChoice<T extends string>(header: string, choices: readonly T[], value: string): T {
  const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
  if (!found) throw new Error(`${header} must be one of ${choices.join(', ')}, not ${value}`);
  return found;
}
