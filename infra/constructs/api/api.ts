import { type CustomResource, Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnStage,
  HttpApi,
  HttpMethod,
  type HttpRoute,
  type HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IFunction, Function as LambdaFunction, LayerVersion, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import { type FunctionOperationId, operationsById } from '../../../core/api/index.ts';
import { variablesFor } from '../../../core/config/index.ts';
import type { Deployment } from '../../config/index.ts';
import {
  allowItems,
  createLogGroup,
  ServiceFunction,
  type ServiceFunctionProps,
  secretReadStatements,
  suppressNag,
  suppressWildcards,
} from '../shared/index.ts';
import { LIVE_ALIAS, type Tools } from '../tools/index.ts';

export interface ApiProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly tools: Tools;
  /** Comma list of the values of the `x-reelay-origin` header that the functions accept. */
  readonly originSecrets: string;
  /** Invoked after a resolve to start the stream task before the first stream; only with the on-demand host. */
  readonly wake?: ServiceFunction;
}

/** Above the 25 s deadline of a resolve, below the 30 s integration timeout of an HTTP API. */
const RESOLVE_TIMEOUT = Duration.seconds(29);
/** The folder of plugins in the layer of `pluginsLayerArn`. */
const PLUGINS_DIR = '/opt/yt-dlp-plugins';

/** Fields of the access log. Client addresses and query strings are left out: they identify users and their links. */
const ACCESS_LOG = {
  requestTime: '$context.requestTime',
  requestId: '$context.requestId',
  routeKey: '$context.routeKey',
  status: '$context.status',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
  integrationLatency: '$context.integrationLatency',
};

/** Operations that the resolver serves. */
const RESOLVE_OPERATIONS = ['GetResource', 'GetDetails', 'GetPlayback', 'Get', 'Feed', 'ArchiveList', 'Mcp'] as const;

/** Operations that have a function each. */
type OwnOperation = Exclude<FunctionOperationId, (typeof RESOLVE_OPERATIONS)[number]>;

/**
 * The JSON endpoints: an HTTP API with access log and throttle, one function per endpoint, and one for unknown paths.
 * Streams do not pass through it, because API Gateway limits a response to 10 MB.
 */
export class Api extends Construct {
  /** Host name of the HTTP API; its functions reject requests without the origin secret. */
  readonly host: string;
  readonly httpApi: HttpApi;
  readonly resolver: ServiceFunction;
  /** Complete when the resolver answers, with tools if there are any. */
  readonly toolsInstalled: CustomResource;
  readonly appInfo: ServiceFunction;
  readonly functions: readonly ServiceFunction[];
  /** Complete when every function accepts the current origin secret. */
  readonly accessControl: readonly IDependable[];
  readonly #props: ApiProps;
  readonly #routes: HttpRoute[] = [];

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    this.#props = props;
    const { table, deployment } = props;
    this.appInfo = this.#function('AppInfo', 'get-app-info', {
      permissions: [allowItems(table, ['tools', 'maintenance'], 'GetItem')],
    });
    const ownFunctions: Readonly<Record<OwnOperation, ServiceFunction>> = {
      GetAppInfo: this.appInfo,
      GetRequestCount: this.#function('RequestCount', 'get-request-count', {
        permissions: [allowItems(table, ['count#*'], 'BatchGetItem')],
      }),
    };
    const description = this.#function('Description', 'get-api-description');
    const notFound = this.#function('NotFound', 'not-found');
    this.resolver = this.#createResolver();
    this.toolsInstalled = props.tools.install(this.resolver);
    const unversioned = [...Object.values(ownFunctions), description, notFound];
    this.functions = [...unversioned, this.resolver];
    // The resolver itself answers by the version that the installation publishes.
    this.accessControl = [...unversioned, this.toolsInstalled];

    // The stage that HttpApi creates by default has no throttle.
    this.httpApi = new HttpApi(this, 'Http', {
      apiName: Stack.of(this).stackName,
      description: 'Reelay',
      createDefaultStage: false,
      // Answers unknown paths with the service's ProblemDetails instead of API Gateway's message.
      defaultIntegration: new HttpLambdaIntegration('NotFoundIntegration', notFound),
    });
    const { stackName } = Stack.of(this);
    const { logDays } = deployment.settings;
    // Under this prefix log groups need no entry each in the account's resource policy of logs, whose length is limited.
    const accessLog = createLogGroup(this, 'AccessLog', logDays, `/aws/vendedlogs/apis/${stackName}`);
    const stage = this.httpApi.addStage('Stage', {
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: deployment.profile.apiRate, burstLimit: deployment.profile.apiBurst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    const resolver = LambdaFunction.fromFunctionAttributes(this, 'LiveResolver', {
      functionArn: `${this.resolver.functionArn}:${LIVE_ALIAS}`,
      sameEnvironment: true,
    });
    // The viewer-request function has normalized the case of paths.
    for (const [operationId, handler] of Object.entries(ownFunctions))
      this.#route(operationsById[operationId as OwnOperation].path, handler);
    for (const operationId of RESOLVE_OPERATIONS) this.#route(operationsById[operationId].path, resolver);
    this.#route('/swagger', description);
    this.#route('/swagger/{proxy+}', description);
    this.#throttleResolves(stage);
    suppressNag(this.httpApi, {
      APIG4: 'The API is public by design; its functions accept only requests that carry the origin secret of the edge',
    });
    this.host = Fn.select(2, Fn.split('/', this.httpApi.apiEndpoint));
  }

  #createResolver(): ServiceFunction {
    const { deployment, table, wake } = this.#props;
    const { settings, profile } = deployment;
    const { pluginsLayerArn } = settings;
    const resolver = this.#function('Resolver', 'get-resource', {
      memoryMb: settings.resolverMemory,
      timeout: RESOLVE_TIMEOUT,
      // The resolver invokes itself once per playlist entry; entries never invoke it again.
      recursiveLoop: RecursiveLoop.ALLOW,
      reservedConcurrentExecutions: profile.resolverConcurrency,
      // The functions that update the tools keep it beside theirs.
      layers: pluginsLayerArn ? [LayerVersion.fromLayerVersionArn(this, 'Plugins', pluginsLayerArn)] : undefined,
      permissions: [
        allowItems(table, ['link#*', 'resource#*', 'tools', 'maintenance'], 'GetItem'),
        allowItems(table, ['link#*', 'resource#*'], 'PutItem'),
        allowItems(table, ['resource#*', 'count#*'], 'UpdateItem'),
        ...(wake ? [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [wake.functionArn] })] : []),
        ...secretReadStatements(settings),
      ],
      environment: {
        ...variablesFor('resolver', settings),
        ...(pluginsLayerArn && { YT_DLP_PLUGINS: PLUGINS_DIR }),
        ENTRIES_AT_ONCE: String(profile.entriesAtOnce),
        ...(wake && { WAKE_FUNCTION: wake.functionName }),
      },
    });
    // A separate policy: as an inline policy of the role, role and function would depend on each other.
    const invokeItself = new Policy(this, 'ResolverInvokesItself', {
      roles: [resolver.executionRole],
      statements: [
        new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${resolver.functionArn}:*`] }),
      ],
    });
    suppressWildcards(invokeItself, [
      {
        finding: /^Resource::<ApiResolver\w+\.Arn>:\*$/,
        reason: 'Its own versions; numbers are assigned when published',
      },
    ]);
    return resolver;
  }

  #function(id: string, name: string, props: Partial<ServiceFunctionProps> = {}): ServiceFunction {
    const { deployment, table, originSecrets } = this.#props;
    return new ServiceFunction(this, id, {
      ...props,
      deployment,
      name,
      environment: {
        TABLE_NAME: table.tableName,
        CORS_ALLOWED_ORIGINS: deployment.settings.corsAllowedOrigins.join(','),
        ORIGIN_SECRET: originSecrets,
        ...props.environment,
      },
    });
  }

  /** The stage's throttle is for all routes together; without their own, these routes could use up all of it. */
  #throttleResolves(stage: HttpStage): void {
    const { resolveRate, resolveBurst } = this.#props.deployment.profile;
    const throttle = { ThrottlingRateLimit: resolveRate, ThrottlingBurstLimit: resolveBurst };
    const resource = stage.node.defaultChild as CfnStage;
    const paths = RESOLVE_OPERATIONS.map((operationId) => operationsById[operationId].path);
    resource.routeSettings = Object.fromEntries(paths.map((path) => [`ANY ${path}`, throttle]));
    // API Gateway rejects settings of a route that does not exist.
    stage.node.addDependency(...this.#routes.filter((route) => paths.includes(route.path ?? '')));
  }

  #route(path: string, handler: IFunction): void {
    const integration = new HttpLambdaIntegration(`${handler.node.id}Integration`, handler);
    const routes = this.httpApi.addRoutes({ path, methods: [HttpMethod.ANY], integration });
    // The permission to invoke the alias requires that it exists.
    for (const route of routes) route.node.addDependency(this.toolsInstalled);
    this.#routes.push(...routes);
  }
}
