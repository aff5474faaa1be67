import { describe, expect, it } from 'vitest';
import { routes } from '../../core/api/operations.ts';
import { profiles } from '../../infra/profiles.ts';
import { PROFILE_NAMES, regional, regionalTemplate, template } from './deployments.ts';
import { behaviourOf, distribution } from './distribution.ts';
import { dependenciesOf, onlyResource, resourcesOfType, valuesOf } from './template.ts';

const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const ALL_VIEWER_EXCEPT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

const KEY = 'k'.repeat(33);
/** What resolves links. */
const RESOLVES = [
  ...['/api/Fetch/GetResource', '/api/Fetch/GetDetails', '/api/Fetch/GetPlayback'],
  ...['/api/Get', '/api/Feed', '/api/Stream/Archive', '/mcp'],
];

/** Tests of the CloudFront distribution, the HTTP API and WAF. */
export function checkEdge(): void {
  describe.each(PROFILE_NAMES)('the edge of %s', (name) => {
    const of = template(name);
    const isHobby = name === 'hobby';

    it('routes streams, the API and the page to their origins, and caches the page, and streams in public', () => {
      const { CacheBehaviors, DefaultCacheBehavior } = distribution(of);
      const stream = isHobby ? 'wake' : 'stream';
      expect(CacheBehaviors.map(({ PathPattern, TargetOriginId }) => [PathPattern, TargetOriginId])).toEqual([
        ['/???/??????/???????', 'api'],
        ['/???/??????/*', stream],
        ['/???/*', 'api'],
        ['/swagger*', 'api'],
        ['/???', 'api'],
      ]);
      const [list, streams, ...others] = CacheBehaviors;
      expect(streams?.CachePolicyId).toEqual(
        name === 'public' ? { Ref: expect.stringMatching(/^EdgeStreamCache/) } : CACHING_DISABLED,
      );
      for (const { CachePolicyId } of [list, ...others].flatMap((each) => each ?? []))
        expect(CachePolicyId).toBe(CACHING_DISABLED);
      for (const behaviour of CacheBehaviors) {
        expect(behaviour).toMatchObject({
          OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
          Compress: false,
          FunctionAssociations: [{ EventType: 'viewer-request' }],
        });
      }
      expect(DefaultCacheBehavior).toMatchObject({ TargetOriginId: 'page' });
    });

    it('routes every path of the stream service in any case to its behaviour', () => {
      const streams = routes.filter(({ servedBy }) => servedBy === 'stream-service');
      const paths = streams.map(({ path }) => path.replaceAll(/\{\w+\}/g, KEY));
      for (const path of paths.flatMap((each) => [each, each.toLowerCase()])) {
        expect([path, behaviourOf(distribution(of), path).PathPattern]).toEqual([path, '/???/??????/*']);
      }
    });

    it('forwards every method: the edge function refuses those that no route has', () => {
      const allowed = distribution(of).CacheBehaviors.map(({ AllowedMethods }) => AllowedMethods.length);
      expect(allowed).toEqual([7, 7, 7, 7, 7]);
    });

    it('neither caches nor replaces error responses', () => {
      const responses = distribution(of).CustomErrorResponses;
      const codes = responses.map(({ ErrorCode }) => ErrorCode);
      expect(codes).toEqual([400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]);
      for (const { ErrorCachingMinTTL, ResponsePagePath } of responses) {
        expect([ErrorCachingMinTTL, ResponsePagePath]).toEqual([0, undefined]);
      }
    });

    it('sends the API the origin secret, which no environment contains', () => {
      const origin = distribution(of).Origins.find(({ Id }) => Id === 'api');
      const value = { 'Fn::GetAtt': ['OriginSecret', 'Secret'] };
      expect(origin?.OriginCustomHeaders).toEqual([{ HeaderName: 'x-reelay-origin', HeaderValue: value }]);
      const readers = Object.entries(of.Resources).filter(([, each]) =>
        JSON.stringify(each).includes('"OriginSecret",'),
      );
      expect(readers.map(([, { Type }]) => Type)).toEqual(['AWS::CloudFront::Distribution']);
      expect(onlyResource(of, 'Custom::OriginSecret')).toMatchObject({
        rotation: 'initial',
        table: { Ref: expect.stringMatching(/^Table/) },
      });
    });

    it.runIf(name === 'public')(
      'caches streams by path, by the parameters that change their bytes, and for an hour at most',
      () => {
        const { CachePolicyConfig } = onlyResource(of, 'AWS::CloudFront::CachePolicy') as never as {
          CachePolicyConfig: object;
        };
        expect(CachePolicyConfig).toMatchObject({
          MinTTL: 0,
          DefaultTTL: 0,
          MaxTTL: 3600,
          ParametersInCacheKeyAndForwardedToOrigin: {
            CookiesConfig: { CookieBehavior: 'none' },
            HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Origin', 'Sec-Fetch-Site'] },
            // All that the edge function leaves of a query.
            QueryStringsConfig: { QueryStringBehavior: 'allExcept', QueryStrings: ['jobId', 'name'] },
            EnableAcceptEncodingGzip: false,
            EnableAcceptEncodingBrotli: false,
          },
        });
      },
    );

    it('has API routes for the paths in the case that the viewer function sends', () => {
      const routes = valuesOf(of, 'AWS::ApiGatewayV2::Route', 'RouteKey').map(String);
      expect(routes.sort()).toEqual(['$default', ...RESOLVES.map((path) => `ANY ${path}`)].sort());
      expect(onlyResource(of, 'AWS::ApiGatewayV2::Stage')).toMatchObject({
        StageName: '$default',
        DefaultRouteSettings: { ThrottlingRateLimit: expect.any(Number), ThrottlingBurstLimit: expect.any(Number) },
      });
    });

    it('throttles resolves below the throttle of all routes, once their route exists', () => {
      const { DefaultRouteSettings, RouteSettings } = onlyResource(of, 'AWS::ApiGatewayV2::Stage') as never as {
        DefaultRouteSettings: { ThrottlingRateLimit: number };
        RouteSettings: Record<string, { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }>;
      };
      expect(Object.keys(RouteSettings)).toEqual(RESOLVES.map((path) => `ANY ${path}`));
      const [{ ThrottlingRateLimit = 0 } = {}, ...others] = Object.values(RouteSettings);
      for (const other of others) expect(other.ThrottlingRateLimit).toBe(ThrottlingRateLimit);
      expect(ThrottlingRateLimit).toBe(profiles[name].resolveRate);
      expect(ThrottlingRateLimit).toBeLessThan(DefaultRouteSettings.ThrottlingRateLimit / 2);
      expect(dependenciesOf(of, 'AWS::ApiGatewayV2::Stage', /./)).toContain('ApiHttpANYapiFetchGetResource');
    });

    it('logs requests without link and client address', () => {
      const { Format } = onlyResource(of, 'AWS::ApiGatewayV2::Stage').AccessLogSettings as never as { Format: string };
      expect(Object.values(JSON.parse(Format)).sort()).toEqual(
        [
          ...['error.message', 'integrationErrorMessage', 'integrationLatency', 'requestId', 'requestTime'],
          ...['routeKey', 'status'],
        ].map((name) => `$context.${name}`),
      );
    });
  });

  describe('WAF', () => {
    it('is deployed with the profile public only, in us-east-1', () => {
      expect(regional.public.stacks).toEqual(['reelay-blue-edge-eu-central-1', 'reelay-blue']);
      expect(resourcesOfType(regionalTemplate('public'), 'AWS::WAFv2::WebACL')).toEqual([]);
      expect(distribution(regionalTemplate('public')).WebACLId).toMatchObject({
        'Fn::GetStackOutput': expect.anything(),
      });
      expect(resourcesOfType(template('public'), 'AWS::WAFv2::WebACL')).toHaveLength(1);
      for (const name of ['hobby', 'team'] as const) expect(distribution(template(name)).WebACLId).toBeUndefined();
    });

    it('limits the requests per client to paths that resolve, to streams, and to all, in any case, whatever their query', () => {
      const [acl] = resourcesOfType(
        regional.public.templates['reelay-blue-edge-eu-central-1'] ?? { Resources: {} },
        'AWS::WAFv2::WebACL',
      );
      expect(acl?.properties.Scope).toBe('CLOUDFRONT');
      const rules = acl?.properties.Rules as never as { Statement: { RateBasedStatement: Record<string, never> } }[];
      const counted = rules.map(({ Statement: { RateBasedStatement: rate } }) => [
        rate.Limit,
        rate.EvaluationWindowSec,
        rate.ScopeDownStatement,
      ]);
      const path = (SearchString: string) => ({
        ByteMatchStatement: {
          FieldToMatch: { UriPath: {} },
          PositionalConstraint: SearchString.endsWith('/') ? 'STARTS_WITH' : 'EXACTLY',
          SearchString,
          TextTransformations: [
            { Priority: 0, Type: 'URL_DECODE' },
            { Priority: 1, Type: 'LOWERCASE' },
          ],
        },
      });
      expect(counted).toEqual([
        [
          300,
          300,
          {
            OrStatement: {
              Statements: RESOLVES.map((each) => path(each.toLowerCase())),
            },
          },
        ],
        [3000, 300, path('/api/stream/')],
        [3300, 300, undefined],
      ]);
      const { Action } = Object(rules[2]);
      expect(Action.Block.CustomResponse).toEqual({
        ResponseCode: 429,
        CustomResponseBodyKey: 'too-many-requests',
        ResponseHeaders: [
          { Name: 'Retry-After', Value: '60' },
          { Name: 'Access-Control-Allow-Origin', Value: 'https://page.example' },
          { Name: 'Access-Control-Expose-Headers', Value: 'Retry-After' },
        ],
      });
      const { CustomResponseBodies } = Object(acl?.properties);
      expect(JSON.parse(CustomResponseBodies['too-many-requests'].Content)).toEqual({
        type: '/problems/too-many',
        title: 'Too Many Requests',
        status: 429,
      });
      // The limit of one client is far below the throttle that all clients share.
      const { DefaultRouteSettings } = onlyResource(
        regionalTemplate('public'),
        'AWS::ApiGatewayV2::Stage',
      ) as never as {
        DefaultRouteSettings: { ThrottlingRateLimit: number };
      };
      expect(3300 / 300).toBeLessThan(DefaultRouteSettings.ThrottlingRateLimit / 5);
    });
  });
}
