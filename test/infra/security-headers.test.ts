import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { describe, expect, it, vi } from 'vitest';
import {
  apiHeaders,
  createHeadersPolicy,
  type Headers,
  pageHeaders,
} from '../../infra/constructs/edge/security-headers.ts';
import { temporaryFolder } from './synth.ts';
import { onlyResource } from './template.ts';

const fileWith = (text: string): string => {
  const file = join(temporaryFolder(), 'headers.json');
  writeFileSync(file, text);
  return file;
};

/** The policy in the template. */
function policyOf(headers: Headers) {
  const app = new App({ outdir: temporaryFolder() });
  const stack = new Stack(app, 'headers');
  createHeadersPolicy(stack, 'Policy', headers);
  // CloudFormation's validation takes seconds to start. It sees the policies of the deployments.
  vi.stubEnv('CDK_VALIDATION', 'false');
  const { template } = app.synth().getStackByName('headers');
  return onlyResource(template, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig;
}

describe('pageHeaders', () => {
  it('returns the headers of the page over the default headers', () => {
    const file = fileWith('{"Content-Security-Policy":"default-src \'self\'","Referrer-Policy":"origin"}');
    expect(pageHeaders(file)).toEqual({
      ...apiHeaders(),
      'Content-Security-Policy': "default-src 'self'",
      'Referrer-Policy': 'origin',
    });
  });

  it('returns a policy that allows nothing without a file', () =>
    expect(pageHeaders('/no/such/file')).toMatchObject({
      'Content-Security-Policy': expect.stringContaining("default-src 'none'"),
      'X-Frame-Options': 'DENY',
    }));

  it.each(['[]', 'null', '"text"', '{"X-Frame-Options":1}'])('rejects %s', (text) =>
    expect(() => pageHeaders(fileWith(text))).toThrow(/headers\.json must be an object/),
  );
});

describe('createHeadersPolicy', () => {
  it('sets each header in the field that CloudFront has for it', () => {
    const policy = policyOf({
      'content-security-policy': "default-src 'self'",
      'X-Frame-Options': 'deny',
      'Referrer-Policy': 'no-referrer',
      'Strict-Transport-Security': 'max-age=60; includeSubDomains',
      'X-Content-Type-Options': 'nosniff',
      'Permissions-Policy': 'camera=()',
    });
    expect(policy).toMatchObject({
      SecurityHeadersConfig: {
        ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'self'", Override: true },
        FrameOptions: { FrameOption: 'DENY', Override: true },
        ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
        StrictTransportSecurity: { AccessControlMaxAgeSec: 60, IncludeSubdomains: true, Preload: false },
        ContentTypeOptions: { Override: true },
      },
      CustomHeadersConfig: { Items: [{ Header: 'permissions-policy', Value: 'camera=()', Override: true }] },
    });
  });

  it.each([
    { 'X-Frame-Options': 'ALLOWALL' },
    { 'Referrer-Policy': 'whatever' },
    { 'Strict-Transport-Security': 'for ever' },
  ])('rejects %j', (headers) => expect(() => policyOf(headers as unknown as Headers)).toThrow(Object.keys(headers)[0]));
});
