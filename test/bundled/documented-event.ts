import type { APIGatewayProxyEventV2 as Event } from 'aws-lambda';

export interface Changes {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An event with every part that AWS documents for payload format 2.0: cookies apart, repeated headers and parameters
 * joined by commas, an authorizer, a client certificate, stage variables, and a body in base64.
 */
export const documented = (path: string, { method = 'GET', query = '', headers = {} }: Changes = {}): Event => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: query,
  cookies: ['session=crumbs', 'theme=b'],
  headers: { accept: 'text/json;q=0.5,application/json', 'x-many': 'one,two', ...headers },
  queryStringParameters: { 'x-many': 'one,two' },
  requestContext: {
    accountId: '123456789012',
    apiId: 'api-id',
    authentication: {
      clientCert: {
        clientCertPem: 'CERT_CONTENT',
        subjectDN: 'www.example.com',
        issuerDN: 'Example issuer',
        serialNumber: '00',
        validity: { notBefore: 'May 28 12:30:02 2019 GMT', notAfter: 'Aug  5 09:36:04 2021 GMT' },
      },
    },
    authorizer: { jwt: { claims: { claim1: 'value1', claim2: 'value2' }, scopes: ['scope1', 'scope2'] } },
    domainName: 'id.execute-api.eu-central-1.amazonaws.com',
    domainPrefix: 'id',
    http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
    requestId: 'request-id',
    routeKey: '$default',
    stage: '$default',
    time: '12/Mar/2020:19:03:58 +0000',
    timeEpoch: Date.now(),
  } as Event['requestContext'],
  body: Buffer.from('{"a":"bodily"}').toString('base64'),
  pathParameters: { proxy: 'value' },
  isBase64Encoded: true,
  stageVariables: { stage: 'variable' },
});

/** The smallest event that API Gateway sends: a request without headers and parameters. */
export function bareEvent(path: string, changes?: Changes): Event {
  const { cookies, headers, queryStringParameters, body, pathParameters, stageVariables, ...event } = documented(
    path,
    changes,
  );
  return { ...event, isBase64Encoded: false } as Event;
}
