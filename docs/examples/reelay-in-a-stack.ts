// Reelay in a CDK app of one's own, beside other constructs.
// npm install reelay aws-cdk-lib constructs && npx cdk deploy --app 'node reelay-in-a-stack.ts'
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Reelay } from 'reelay/infra';

const app = new App();
const stack = new Stack(app, 'Site');
const media = new Reelay(stack, 'Media', { profile: 'hobby', stage: 'media', idleMinutes: 5 });
// Any other construct of the stack may use its address.
new CfnOutput(stack, 'MediaUrl', { value: media.baseUrl });
