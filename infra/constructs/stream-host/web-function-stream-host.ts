import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { FunctionUrlOriginAccessControl, OriginProtocolPolicy, Signing } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { WebFunction, WebFunctionAuthType, WebFunctionCode, WebFunctionRuntime } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import {
  anyDistribution,
  createBucket,
  createLogGroup,
  createProviderRole,
  logWriteStatement,
  regionalName,
  suppressWildcards,
  type Wildcard,
} from '../shared/index.ts';
import { STREAM_WILDCARDS, type StreamDependencies, streamStatements, streamVariables } from './stream-permissions.ts';

/** Proxies whose X-Forwarded-For is trusted: CloudFront, and the endpoint, which appends CloudFront's address. */
const TRUSTED_PROXIES = 2;
/** The maximum. It bounds a whole response, which then ends before its length: clients request the rest by range. */
const REQUEST_TIMEOUT = Duration.minutes(15);
/** The minimum. Each has 2 vCPU and 2 GB, and bounds what the function costs. */
const MAX_ENVIRONMENTS = 2;
/** Per second, the lowest that the service accepts besides 0. */
const RATE_LIMIT = 100;
/** Lambda's default. The service itself refuses streams beyond what memory and processor allow. */
const MAX_CONCURRENCY = 64;

/** CDK's function that copies the package from its bucket of assets, which Lambda cannot read, into that of the stack. */
const COPY_WILDCARDS: readonly Wildcard[] = [
  { finding: /^Action::s3:(Abort|DeleteObject)\*$/, reason: "CDK's grants to delete and to abort uploads" },
  { finding: /^Resource::arn:.*:s3:::cdk-.*-assets-.*\/\*$/, reason: "CDK's bucket of assets; keys are hashes" },
  { finding: /^Resource::<StreamFunctionCode\w+\.Arn>\/web-function\/\*$/, reason: 'Packages; keys are hashes' },
];

/**
 * The stream host of `hobby` with `streamHost=lambda`: the stream service as a Lambda Web Function, an HTTP server that
 * Lambda starts with the first request and ends without any. Only CloudFront may call it, by signed requests.
 */
export class WebFunctionStreamHost extends Construct {
  readonly origin: HttpOrigin;
  /** Complete when CloudFront may call the function. */
  readonly ready: readonly IDependable[];
  readonly #function: WebFunction;

  constructor(scope: Construct, id: string, props: StreamDependencies) {
    super(scope, id);
    const { settings, bundleDir } = props.deployment;
    const copyLog = createLogGroup(this, 'CopyLog', settings.logDays);
    const copyRole = createProviderRole(this, 'CopyRole', copyLog);
    this.#function = new WebFunction(this, 'Function', {
      // Names are unique across the regions of an account.
      webFunctionName: regionalName(this, 'stream'),
      code: WebFunctionCode.fromAssetToProvidedBucket(
        createBucket(this, 'Code', { versioned: true }),
        join(bundleDir, 'stream-function'),
        { copyOptions: { role: copyRole, logGroup: copyLog } },
      ),
      runtime: WebFunctionRuntime.NODEJS_24_X,
      timeout: REQUEST_TIMEOUT,
      maxConcurrencyPerEnvironment: MAX_CONCURRENCY,
      environment: streamVariables(props, { trustedProxies: TRUSTED_PROXIES, idleMinutes: 0 }),
      ...this.#createRole(props),
      defaultEndpointAuth: WebFunctionAuthType.IAM_AUTH,
      defaultEndpoint: { maxEnvironments: MAX_ENVIRONMENTS, rateLimit: RATE_LIMIT },
    });
    suppressWildcards(copyRole, COPY_WILDCARDS);
    // CDK refers to the function by its ARN, with which CloudFormation failed to read the domain name of the endpoint
    // (aws/agent-toolkit-for-aws, infrastructure-as-code.md); the name is valid in any case.
    this.#function.endpoint.resource.functionName = this.#function.resource.ref;
    const conditions = { ArnLike: { 'aws:SourceArn': anyDistribution(this) } };
    const cloudFront = new ServicePrincipal('cloudfront.amazonaws.com', { conditions });
    this.ready = [this.#function.endpoint.grants.invoke(cloudFront)];
    const access = new FunctionUrlOriginAccessControl(this, 'Access', {
      originAccessControlName: regionalName(this, 'stream'),
      // The only kind of signature that a Web Function accepts.
      signing: Signing.SIGV4_ALWAYS_AMZ_AUTH,
    });
    this.origin = new HttpOrigin(this.#function.endpoint.domainName, {
      originId: 'stream',
      originAccessControlId: access.originAccessControlId,
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      readTimeout: Duration.seconds(60),
      keepaliveTimeout: Duration.seconds(60),
      connectionAttempts: 1,
      connectionTimeout: Duration.seconds(5),
    });
  }

  /** Responses with a status of 500 and above, in five minutes. */
  metricServerErrors(): Metric {
    const { webFunctionName, endpoint } = this.#function;
    return new Metric({
      namespace: 'AWS/Lambda/Web',
      metricName: 'HTTPResponseStatusClass5XX',
      dimensionsMap: { FunctionName: webFunctionName, EndpointName: endpoint.resource.endpointName },
      statistic: 'Sum',
      period: Duration.minutes(5),
    });
  }

  #createRole(props: StreamDependencies) {
    const logGroup = createLogGroup(this, 'Log', props.deployment.settings.logDays);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        permissions: new PolicyDocument({ statements: [logWriteStatement(logGroup), ...streamStatements(props)] }),
      },
    });
    suppressWildcards(role, STREAM_WILDCARDS);
    return { role, logGroup };
  }
}
