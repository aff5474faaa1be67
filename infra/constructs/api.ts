import { type CustomResource, Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { type CfnStage, HttpApi, HttpMethod, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, LayerVersion, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { variablesFor } from '../../core/config/index.ts';
import type { Deployment } from '../profiles.ts';
import { allow, allowItems, createLogGroup, suppressNag } from './conventions.ts';
import { RESOLVE_PATHS } from './edge/index.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';
import { LIVE_ALIAS, type Tools } from './tools.ts';

interface ApiProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly tools: Tools;
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

/**
 * The JSON endpoints: an HTTP API with access log and throttle, the resolver, and a function for everything else.
 * Streams do not pass through it, because API Gateway limits a response to 10 MB.
 */
export class Api extends Construct {
  /** Host name of the HTTP API; its functions reject requests without the origin secret. */
  readonly host: string;
  readonly httpApi: HttpApi;
  readonly resolver: ServiceFunction;
  /** Complete when the resolver answers, with tools if there are any. */
  readonly toolsInstalled: CustomResource;
  readonly #props: ApiProps;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    this.#props = props;
    const { table, deployment } = props;
    const others = this.#function('Others', 'api', {
      permissions: [
        allowItems(table, ['tools', 'maintenance', 'origin-secret'], 'GetItem'),
        allowItems(table, ['count#*'], 'BatchGetItem'),
      ],
    });
    this.resolver = this.#createResolver();
    this.toolsInstalled = props.tools.install(this.resolver);

    // The stage that HttpApi creates by default has no throttle.
    this.httpApi = new HttpApi(this, 'Http', {
      apiName: Stack.of(this).stackName,
      description: 'Reelay',
      createDefaultStage: false,
      // Unknown paths too, which get the service's ProblemDetails instead of API Gateway's message.
      defaultIntegration: new HttpLambdaIntegration('OthersIntegration', others),
    });
    const { stackName } = Stack.of(this);
    const { settings, profile } = deployment;
    // Under this prefix log groups need no entry each in the account's resource policy of logs, whose length is limited.
    const accessLog = createLogGroup(this, 'AccessLog', settings.logDays, `/aws/vendedlogs/apis/${stackName}`);
    const stage = this.httpApi.addStage('Stage', {
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: profile.apiRate, burstLimit: profile.apiBurst },
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
    for (const path of RESOLVE_PATHS) {
      const integration = new HttpLambdaIntegration('LiveResolverIntegration', resolver);
      const routes = this.httpApi.addRoutes({ path, methods: [HttpMethod.ANY], integration });
      // The permission to invoke the alias requires that it exists.
      for (const route of routes) route.node.addDependency(this.toolsInstalled);
      // API Gateway rejects settings of a route that does not exist.
      stage.node.addDependency(...routes);
    }
    // The stage's throttle is for all routes together; without their own, these routes could use up all of it.
    const throttle = { ThrottlingRateLimit: profile.resolveRate, ThrottlingBurstLimit: profile.resolveBurst };
    const resource = stage.node.defaultChild as CfnStage;
    resource.routeSettings = Object.fromEntries(RESOLVE_PATHS.map((path) => [`ANY ${path}`, throttle]));
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
      memorySize: settings.resolverMemory,
      timeout: RESOLVE_TIMEOUT,
      // The resolver invokes itself once per playlist entry; entries never invoke it again.
      recursiveLoop: RecursiveLoop.ALLOW,
      reservedConcurrentExecutions: profile.resolverConcurrency,
      // The functions that update the tools keep it beside theirs.
      layers: pluginsLayerArn ? [LayerVersion.fromLayerVersionArn(this, 'Plugins', pluginsLayerArn)] : undefined,
      permissions: [
        allowItems(table, ['link#*', 'resource#*', 'tools', 'maintenance', 'origin-secret'], 'GetItem'),
        allowItems(table, ['link#*', 'resource#*'], 'PutItem'),
        allowItems(table, ['resource#*', 'count#*'], 'UpdateItem'),
        ...allow(['lambda:InvokeFunction'], wake?.functionArn),
        ...allow(['secretsmanager:GetSecretValue'], settings.outgoingProxiesSecret, settings.cookiesSecret),
      ],
      environment: {
        ...variablesFor('resolver', settings),
        ...(pluginsLayerArn && { YT_DLP_PLUGINS: PLUGINS_DIR }),
        ENTRIES_AT_ONCE: String(profile.entriesAtOnce),
        ...(wake && { WAKE_FUNCTION: wake.functionName }),
      },
    });
    // A separate policy: as an inline policy of the role, role and function would depend on each other.
    new Policy(this, 'ResolverInvokesItself', {
      roles: [resolver.executionRole],
      statements: allow(['lambda:InvokeFunction'], `${resolver.functionArn}:*`),
    });
    return resolver;
  }

  #function(id: string, name: string, props: Partial<ServiceFunctionProps> = {}): ServiceFunction {
    const { deployment, table } = this.#props;
    return new ServiceFunction(this, id, {
      ...props,
      deployment,
      name,
      environment: {
        TABLE_NAME: table.tableName,
        CORS_ALLOWED_ORIGINS: deployment.settings.corsAllowedOrigins.join(','),
        ...props.environment,
      },
    });
  }
}
