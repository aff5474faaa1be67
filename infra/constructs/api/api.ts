import { Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpMethod, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { variablesFor } from '../../../core/config/index.ts';
import type { Deployment } from '../../config/index.ts';
import {
  createLogGroup,
  ServiceFunction,
  type ServiceFunctionProps,
  type StateTable,
  secretReadStatements,
  suppressNag,
} from '../shared/index.ts';
import type { Tools } from '../tools/index.ts';

export interface ApiProps {
  readonly deployment: Deployment;
  readonly table: StateTable;
  readonly tools: Tools;
  /** What the edge says so that it is answered. */
  readonly originSecret: string;
  /** Told after a resolve that a stream is to be expected. */
  readonly wake?: ServiceFunction;
}

/** Longer than the 25 s a resolve may take, shorter than the 30 s after which the HTTP API would answer by itself. */
const RESOLVE_TIMEOUT = Duration.seconds(29);

/** What is logged of each request, as the HTTP API names it: neither who asks nor for what. */
const ACCESS_LOG = {
  requestTime: '$context.requestTime',
  requestId: '$context.requestId',
  routeKey: '$context.routeKey',
  status: '$context.status',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
  integrationLatency: '$context.integrationLatency',
};

/** The API without its streams: an HTTP API, and one function for each endpoint. */
export class Api extends Construct {
  /** Host name; answers only who knows the origin secret. */
  readonly host: string;
  readonly httpApi: HttpApi;
  readonly resolver: ServiceFunction;
  readonly appInfo: ServiceFunction;
  readonly functions: readonly ServiceFunction[];
  readonly #props: ApiProps;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    this.#props = props;
    const { table, deployment } = props;
    this.appInfo = this.#function('AppInfo', 'get-app-info', {
      permissions: [table.allowItems(['tools', 'maintenance'], 'GetItem')],
    });
    const requestCount = this.#function('RequestCount', 'get-request-count', {
      permissions: [table.allowItems(['count#*'], 'BatchGetItem')],
    });
    const description = this.#function('Description', 'get-api-description');
    const notFound = this.#function('NotFound', 'not-found');
    this.resolver = this.#createResolver();
    this.functions = [this.appInfo, requestCount, description, notFound, this.resolver];

    // An own stage, because the default one has no throttle.
    this.httpApi = new HttpApi(this, 'Http', {
      apiName: Stack.of(this).stackName,
      description: 'Reelay',
      createDefaultStage: false,
      // What is left over is ours to answer too, not API Gateway's.
      defaultIntegration: new HttpLambdaIntegration('NotFoundIntegration', notFound),
    });
    this.httpApi.addStage('Stage', {
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: deployment.profile.apiRate, burstLimit: deployment.profile.apiBurst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(createLogGroup(this, 'AccessLog', deployment.settings.logDays)),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    // The edge has folded the case of paths by now.
    this.#route('/api/App', this.appInfo);
    this.#route('/api/App/requests', requestCount);
    this.#route('/api/Fetch/GetResource', this.resolver);
    this.#route('/swagger', description);
    this.#route('/swagger/{proxy+}', description);
    suppressNag(this.httpApi, { APIG4: 'The API is open to whoever can reach the base URL; the edge is who may call' });
    this.host = Fn.select(2, Fn.split('/', this.httpApi.apiEndpoint));
  }

  #createResolver(): ServiceFunction {
    const { deployment, table, tools, wake } = this.#props;
    const { settings, profile } = deployment;
    const resolver = this.#function('Resolver', 'get-resource', {
      memoryMb: settings.resolverMemory,
      timeout: RESOLVE_TIMEOUT,
      layers: [tools.layer],
      // Each entry of a playlist is an invocation of its own, never deeper than that.
      recursiveLoop: RecursiveLoop.ALLOW,
      permissions: [
        table.allowItems(['link#*', 'resource#*', 'tools', 'maintenance'], 'GetItem'),
        table.allowItems(['link#*', 'resource#*'], 'PutItem'),
        table.allowItems(['resource#*', 'count#*'], 'UpdateItem'),
        ...(wake ? [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [wake.functionArn] })] : []),
        ...secretReadStatements(settings),
      ],
      environment: {
        ...variablesFor('resolver', settings),
        ENTRIES_AT_ONCE: String(profile.entriesAtOnce),
        ...(wake && { WAKE_FUNCTION: wake.functionName }),
      },
    });
    // Apart: within the role, role and function would wait for each other.
    new Policy(this, 'ResolverInvokesItself', {
      roles: [resolver.executionRole],
      statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [resolver.functionArn] })],
    });
    return resolver;
  }

  #function(id: string, name: string, props: Partial<ServiceFunctionProps> = {}): ServiceFunction {
    const { deployment, table, originSecret } = this.#props;
    return new ServiceFunction(this, id, {
      ...props,
      deployment,
      name,
      environment: {
        TABLE_NAME: table.tableName,
        CORS_ALLOWED_ORIGINS: deployment.settings.corsAllowedOrigins.join(','),
        ORIGIN_SECRET: originSecret,
        ...props.environment,
      },
    });
  }

  #route(path: string, handler: ServiceFunction): void {
    const integration = new HttpLambdaIntegration(`${handler.node.id}Integration`, handler);
    this.httpApi.addRoutes({ path, methods: [HttpMethod.ANY], integration });
  }
}
