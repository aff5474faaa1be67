import type { ProfileName } from '../../infra/settings.ts';

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const FUNCTION = [...LOGS, 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const items = (...actions: string[]) => actions.map((action) => `dynamodb:${action}Item`);

const FETCH_RELEASES = [
  ...FUNCTION,
  ...items('Delete', 'Get', 'Put'),
  ...['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
  ...['lambda:PublishLayerVersion', 'lambda:GetLayerVersion', 'lambda:DeleteLayerVersion', 'lambda:ListLayerVersions'],
  ...['lambda:UpdateFunctionConfiguration', 'lambda:GetFunctionConfiguration'],
  ...['lambda:InvokeFunction', 'lambda:PublishVersion'],
  ...['lambda:GetAlias', 'lambda:CreateAlias', 'lambda:UpdateAlias'],
];
/** Permissions of the function of CDK that uploads files to buckets. */
const BUCKET_DEPLOYMENT = [
  ...['s3:Abort*', 's3:DeleteObject*', 's3:GetBucket*', 's3:GetObject*', 's3:List*', 's3:PutObject'],
  ...['s3:PutObjectLegalHold', 's3:PutObjectRetention', 's3:PutObjectTagging', 's3:PutObjectVersionTagging'],
];
const WRITE_STORE = ['DescribeKeyValueStore', 'PutKey', 'DeleteKey'].map((each) => `cloudfront-keyvaluestore:${each}`);
const CONTROL_HOST = ['ecs:DescribeServices', 'ecs:UpdateService'];

const GUARD = [
  ...FUNCTION,
  ...['apigateway:GET', 'apigateway:PATCH', 'cloudwatch:GetMetricStatistics'],
  ...['cloudfront:GetDistributionConfig', 'cloudfront:UpdateDistribution'],
  ...['Get', 'Put', 'Delete'].map((verb) => `lambda:${verb}FunctionConcurrency`),
  ...WRITE_STORE,
  ...items('Get', 'Put'),
];

const ALWAYS: Record<string, string[]> = {
  ApiOthersRole: [...FUNCTION, ...items('BatchGet', 'Get')],
  ApiResolverRole: [...FUNCTION, ...items('Get', 'Put', 'Update'), 'lambda:InvokeFunction'],
  OriginSecretMakerRole: [...FUNCTION, ...items('Get', 'Put')],
  ToolsCanaryRole: FUNCTION,
  ToolsLayerRole: [
    ...FETCH_RELEASES,
    ...['lambda:PutProvisionedConcurrencyConfig', 'lambda:DeleteProvisionedConcurrencyConfig'],
  ],
  ToolUpdatesFunctionRole: FETCH_RELEASES,
  MonitoringCostGuardFunctionRole: GUARD,
  PageUploadRole: [...LOGS, ...BUCKET_DEPLOYMENT],
  CustomS3AutoDeleteObjectsCustomResourceProviderRole: LOGS,
};
const SDK_CALLS = [...LOGS, 'ec2:DescribeManagedPrefixLists', 'iam:CreateServiceLinkedRole'];
const TASK = [...items('Get', 'Put', 'Update'), 's3:GetObject', 's3:ListBucket'];
const FARGATE = {
  TaskExecutionRole: [
    ...LOGS,
    ...['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetAuthorizationToken'],
    'ecr:GetDownloadUrlForLayer',
  ],
  SdkCallsRole: SDK_CALLS,
};
const BALANCED = {
  ...FARGATE,
  TaskTaskRole: [...TASK, 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
};
const ON_DEMAND = {
  ...FARGATE,
  TaskTaskRole: [...TASK, 'lambda:InvokeFunction'],
  StreamsWakeRole: [
    ...FUNCTION,
    ...CONTROL_HOST,
    'ec2:DescribeNetworkInterfaces',
    'cloudfront-keyvaluestore:GetKey',
    ...WRITE_STORE,
    ...items('Get'),
  ],
  MonitoringCostGuardFunctionRole: [...GUARD, ...CONTROL_HOST, 'cloudfront-keyvaluestore:GetKey'],
};

const OF_HOST: Readonly<Record<ProfileName, Record<string, string[]>>> = {
  hobby: ON_DEMAND,
  team: BALANCED,
  public: BALANCED,
};

/** All actions of each role of a deployment. */
export const expectedActions = (name: ProfileName): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries({ ...ALWAYS, ...OF_HOST[name] }).map(([role, actions]) => [role, [...actions].sort()]),
  );

const OF_TOOLS = ['maintenance', 'tools', 'tools-update'];
const UPDATE_TOOLS = { DeleteItem: OF_TOOLS, GetItem: OF_TOOLS, PutItem: OF_TOOLS };

/** Table items that each role has access to. */
export const expectedItems = (name: ProfileName): Record<string, Record<string, string[]>> => ({
  ApiOthersRole: { BatchGetItem: ['count#*'], GetItem: ['maintenance', 'origin-secret', 'tools'] },
  ApiResolverRole: {
    GetItem: ['link#*', 'maintenance', 'origin-secret', 'resource#*', 'tools'],
    PutItem: ['link#*', 'resource#*'],
    UpdateItem: ['count#*', 'resource#*'],
  },
  MonitoringCostGuardFunctionRole: { GetItem: ['cost-guard', 'spending#*'], PutItem: ['cost-guard'] },
  OriginSecretMakerRole: { GetItem: ['origin-secret'], PutItem: ['origin-secret'] },
  ToolsLayerRole: UPDATE_TOOLS,
  ToolUpdatesFunctionRole: UPDATE_TOOLS,
  TaskTaskRole: {
    GetItem: ['cost-guard', 'maintenance', 'resource#*'],
    PutItem: ['resource#*'],
    UpdateItem: ['resource#*', 'spending#*'],
  },
  ...(name === 'hobby' && {
    StreamsWakeRole: { GetItem: ['resource#*'] },
  }),
});

/** Actions without resource-level permissions in AWS. */
export const WITHOUT_RESOURCE = [
  'xray:PutTelemetryRecords',
  'xray:PutTraceSegments',
  'cloudwatch:GetMetricStatistics',
  'lambda:ListLayerVersions',
  'ecr:GetAuthorizationToken',
  'ec2:DescribeManagedPrefixLists',
  'ec2:DescribeNetworkInterfaces',
];
