package dev.berth.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.config.Configuration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `deploy/sagemaker/template.yaml`, resolved for each kind of endpoint and compared with AWS's
/// schemas.
class SageMakerTemplateTest {

    private static final Path TEMPLATE = Path.of("deploy/sagemaker/template.yaml");
    private static final String VPC = "SubnetIds=subnet-1,SecurityGroupIds=sg-1";
    private static final String GPU =
            "InstanceType=ml.g5.xlarge,InferenceAmiVersion=al2-ami-sagemaker-inference-gpu-3-1";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Kind=real-time",
                "Kind=serverless",
                "Kind=async",
                "Kind=multi-model,ArtifactKey=berth/models/",
                "Kind=real-time,MaxInstances=4," + VPC,
                "Kind=real-time,AlarmTopicArn=arn:aws:sns:eu-west-1:1:x," + GPU,
                "Kind=async,MinInstances=0,MaxInstances=4," + VPC + "," + GPU,
                "Kind=real-time,MaxInstances=4,FallbackInstanceType=ml.m5.large",
                "Kind=multi-model,MaxInstances=2," + VPC,
                "Kind=component,MaxInstances=4,AlarmTopicArn=arn:aws:sns:eu-west-1:1:x," + VPC,
                "Kind=component,ComponentAccelerators=1," + GPU,
                "Kind=serverless,Image=berth@sha256:"
                        + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
            })
    void everyResourceIsAsTheSchemasSay(String parameters) throws Exception {
        var template = template(parameters);
        assertThat(template.resources())
                .containsKeys("Role", "Model", "EndpointConfig", "Endpoint", "ErrorAlarm", "LatencyAlarm");
        assertThat(template.problems()).isEmpty();
    }

    @Test
    void aKindHasWhatItNeeds() throws Exception {
        assertThat(variant("Kind=serverless"))
                .containsKey("ServerlessConfig")
                .doesNotContainKeys("InstanceType", "InitialInstanceCount");
        assertThat(variant("Kind=real-time," + GPU))
                .containsEntry("InferenceAmiVersion", "al2-ami-sagemaker-inference-gpu-3-1")
                .containsEntry("InitialInstanceCount", 1L)
                .doesNotContainKey("ServerlessConfig");
        assertThat(properties("EndpointConfig", "Kind=async")).containsKey("AsyncInferenceConfig");
        assertThat(properties("EndpointConfig", "Kind=real-time")).doesNotContainKey("AsyncInferenceConfig");
        assertThat(container("Kind=multi-model,ArtifactKey=berth/models/"))
                .containsEntry("Mode", "MultiModel")
                .containsEntry("ModelDataUrl", "s3://my-bucket/berth/models/");
        assertThat(container("Kind=real-time"))
                .containsEntry("Mode", "SingleModel")
                .containsEntry("Image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/berth:cpu");
        assertThat(properties("Model", "Kind=real-time," + VPC))
                .containsEntry(
                        "VpcConfig", Map.of("Subnets", List.of("subnet-1"), "SecurityGroupIds", List.of("sg-1")));
    }

    @Test
    void aSecondTypeIsTakenWhereThereIsNoneOfTheFirst() throws Exception {
        assertThat(variant("Kind=real-time,FallbackInstanceType=ml.m5.large"))
                .containsEntry(
                        "InstancePools",
                        List.of(
                                Map.of("InstanceType", "ml.c5.large", "Priority", 1),
                                Map.of("InstanceType", "ml.m5.large", "Priority", 2)))
                .containsEntry("VariantInstanceProvisionTimeoutInSeconds", 900L)
                .doesNotContainKey("InstanceType");
        assertThat(variant("Kind=real-time"))
                .containsEntry("InstanceType", "ml.c5.large")
                .doesNotContainKeys("InstancePools", "VariantInstanceProvisionTimeoutInSeconds");
    }

    @Test
    void aComponentBringsItsModelAndItsSliceOfAnInstance() throws Exception {
        var parameters = "Kind=component,MinInstances=2,MaxInstances=4," + VPC;
        assertThat(variant(parameters))
                .containsEntry("InitialInstanceCount", 1)
                .containsEntry(
                        "ManagedInstanceScaling",
                        Map.of("Status", "ENABLED", "MinInstanceCount", 1, "MaxInstanceCount", 4L))
                .doesNotContainKeys("ModelName", "InitialVariantWeight");
        // A component's model may have neither a network nor isolation of its own.
        assertThat(properties("EndpointConfig", parameters))
                .containsEntry("EnableNetworkIsolation", true)
                .containsKeys("ExecutionRoleArn", "VpcConfig");
        assertThat(properties("Model", parameters)).doesNotContainKeys("EnableNetworkIsolation", "VpcConfig");
        assertThat(properties("InferenceComponent", parameters))
                .containsEntry("RuntimeConfig", Map.of("CopyCount", 2L));
        assertThat(properties("ScalableTarget", parameters))
                .containsEntry("ScalableDimension", "sagemaker:inference-component:DesiredCopyCount");
        assertThat(properties("ScalingPolicy", parameters).toString())
                .contains("SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution");
        assertThat(properties("Role", parameters).toString()).contains("/aws/sagemaker/InferenceComponents/berth-qa*");
        assertThat(properties("EndpointConfig", "Kind=real-time," + VPC))
                .doesNotContainKeys("ExecutionRoleArn", "EnableNetworkIsolation", "VpcConfig");
        assertThat(template("Kind=real-time").resources()).doesNotContainKey("InferenceComponent");
    }

    @Test
    void containersReachNothingOutsideUnlessTheyAreToldTo() throws Exception {
        assertThat(properties("Model", "Kind=real-time")).containsEntry("EnableNetworkIsolation", true);
        assertThat(properties("Model", "NetworkIsolation=false")).containsEntry("EnableNetworkIsolation", false);
        assertThat(properties("Model", "Kind=serverless")).containsEntry("EnableNetworkIsolation", false);
    }

    @Test
    void itScalesByWhatWaits() throws Exception {
        assertThat(template("Kind=real-time").resources())
                .doesNotContainKeys("ScalableTarget", "ScalingPolicy", "FromZeroPolicy");
        assertThat(template("Kind=serverless,MaxInstances=4").resources())
                .doesNotContainKeys("ScalableTarget", "NoInstanceAlarm");
        assertThat(properties("ScalingPolicy", "Kind=real-time,MaxInstances=4").toString())
                .contains("SageMakerVariantConcurrentRequestsPerModelHighResolution", "TargetValue=4")
                .doesNotContain("Backlog");
        assertThat(properties("ScalingPolicy", "Kind=async,MaxInstances=4").toString())
                .contains("ApproximateBacklogSizePerInstance");
        // Nothing would ever begin without the second policy, and an alarm for no instance would always
        // ring.
        assertThat(template("Kind=async,MinInstances=0,MaxInstances=4").resources())
                .containsKeys("FromZeroPolicy", "FromZeroAlarm")
                .doesNotContainKey("NoInstanceAlarm");
    }

    @Test
    void theRoleMayDoNoMoreThanItsKindNeeds() throws Exception {
        var realTime = properties("Role", "Kind=real-time").toString();
        assertThat(realTime)
                .contains("repository/berth", "arn:aws:s3:::my-bucket/berth/model.tar.gz")
                .doesNotContain("s3:PutObject", "s3:ListBucket", "ec2:", "sagemaker:", "iam:");
        assertThat(properties("Role", "Kind=async").toString())
                .contains("s3:PutObject", "arn:aws:s3:::my-bucket/berth/async/*");
        assertThat(properties("Role", "Kind=multi-model,ArtifactKey=m/").toString())
                .contains("s3:ListBucket", "arn:aws:s3:::my-bucket/m/*");
        assertThat(properties("Role", "BatchPrefix=berth/batch/").toString())
                .contains("s3:PutObject", "arn:aws:s3:::my-bucket/berth/batch/*", "/aws/sagemaker/TransformJobs*");
        assertThat(properties("Role", "Kind=real-time," + VPC).toString()).contains("ec2:CreateNetworkInterface");
        assertThat(Files.readString(TEMPLATE)).doesNotContainPattern("Action: .*\\*");
    }

    @Test
    void theVariablesAreBerths() throws Exception {
        for (var variable : CloudFormation.map(container("Kind=real-time").get("Environment"))
                .keySet()) {
            assertThatThrownBy(() -> Configuration.read(Map.of(variable, "no such value"), Map.of(), Path.of(".")))
                    .hasMessageContaining(variable);
        }
    }

    /// The same model serves batch transform jobs, whose requests have an hour where nothing is set.
    @Test
    void aTimeoutIsOnlySetWhereOneIsAskedFor() throws Exception {
        var variable = "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS";
        assertThat(CloudFormation.map(container("BatchPrefix=berth/batch/").get("Environment")))
                .doesNotContainKey(variable);
        assertThat(CloudFormation.map(container("TimeoutSeconds=50").get("Environment")))
                .containsEntry(variable, "50");
    }

    @Test
    void everyParameterAndConditionIsUsed() throws Exception {
        var text = Files.readString(TEMPLATE);
        var template = CloudFormation.read(TEMPLATE);
        for (var name : CloudFormation.map(template.get("Parameters")).keySet()) {
            assertThat(text).containsPattern("!Ref " + name + "\\b|\\$\\{" + name + "}");
        }
        for (var name : CloudFormation.map(template.get("Conditions")).keySet()) {
            assertThat(text).containsPattern("(?m)(!Condition|!If \\[|Condition:|- )" + "\\s*" + name + "\\b");
        }
    }

    @Test
    void thePageNamesParametersThatAreThere() throws Exception {
        var page = Files.readString(Path.of("docs/deploy.md"));
        var examples = page.lines()
                .filter(line -> line.matches("\\| [a-z][^|]* \\| `[A-Z][A-Za-z]+=.*"))
                .map(line -> line.split("`")[1]
                        .replaceAll("subnet-1,subnet-2", "subnet-1")
                        .replace(' ', ','))
                .toList();
        assertThat(examples).hasSizeGreaterThanOrEqualTo(7);
        for (var example : examples) {
            assertThat(template(example).problems()).as(example).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        Kind=serverless,SubnetIds=subnet-1|SubnetIds: a serverless endpoint has no VPC; leave it empty
        Kind=serverless,InferenceAmiVersion=x|InferenceAmiVersion: a serverless endpoint has no GPU; leave it empty
        Kind=serverless,FallbackInstanceType=ml.m5.large|FallbackInstanceType: only real-time and async endpoints have one; leave it empty
        Kind=component,FallbackInstanceType=ml.m5.large|FallbackInstanceType: only real-time and async endpoints have one; leave it empty
        Kind=multi-model,FallbackInstanceType=ml.m5.large|FallbackInstanceType: only real-time and async endpoints have one; leave it empty
        Kind=real-time,MinInstances=0|MinInstances: 0 is for async only; expected at least 1
        """)
    void whatDoesNotGoTogetherIsRefused(String parameters, String message) throws Exception {
        assertThat(template(parameters).problems()).containsExactly(message);
    }

    /// So that the tests above mean something.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        InitialInstanceCount:|InstanceCount:|additional|InstanceCount
        Threshold: 0.01|Threshold: few|string|number
        EndpointConfigName: !GetAtt|DeploymentConfig: {}\\n#|required|EndpointConfigName
        """)
    void theSchemasNoticeAMistake(String right, String wrong, String first, String second) throws Exception {
        var problems = mistaken(right, wrong).problems();
        assertThat(problems.toString()).contains(first, second);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        !GetAtt Role.Arn|!GetAtt Role.Arm|found no attribute of AWS::IAM::Role named Arm
        !Ref AlarmTopicArn|!Ref AlarmTopic|found no parameter or resource named AlarmTopic
        !If [OneAtFirst,|!If [Zero,|found no condition named Zero
        !Ref ScalableTarget|!Ref FromZeroPolicy|found no resource of these parameters named FromZeroPolicy
        AWS::CloudWatch::Alarm|AWS::CloudWatch::Alert|found no resource type named AWS::CloudWatch::Alert
        """)
    void aReferenceThatLeadsNowhereIsNoticed(String right, String wrong, String message) {
        assertThatThrownBy(() -> mistaken(right, wrong).problems()).hasMessageContaining(message);
    }

    private CloudFormation mistaken(String right, String wrong) throws Exception {
        var text = Files.readString(TEMPLATE);
        assertThat(text).contains(right);
        var file = Files.createTempFile("template", ".yaml");
        try {
            Files.writeString(
                    file,
                    Pattern.compile(right, Pattern.LITERAL).matcher(text).replaceAll(wrong.replace("\\n", "\n      ")));
            return new CloudFormation(
                    CloudFormation.read(file), given("Kind=real-time,MaxInstances=4,AlarmTopicArn=arn"));
        } finally {
            Files.delete(file);
        }
    }

    private static Map<String, Object> container(String parameters) throws Exception {
        return CloudFormation.map(properties("Model", parameters).get("PrimaryContainer"));
    }

    private static Map<String, Object> variant(String parameters) throws Exception {
        return CloudFormation.map(
                ((List<?>) properties("EndpointConfig", parameters).get("ProductionVariants")).get(0));
    }

    private static Map<String, Object> properties(String resource, String parameters) throws Exception {
        return CloudFormation.map(template(parameters).resources().get(resource).get("Properties"));
    }

    private static CloudFormation template(String parameters) throws Exception {
        return new CloudFormation(CloudFormation.read(TEMPLATE), given(parameters));
    }

    private static Map<String, String> given(String parameters) {
        var given = new HashMap<>(Map.of("ArtifactBucket", "my-bucket"));
        for (var parameter : parameters.split(",")) {
            var parts = parameter.split("=", 2);
            given.put(parts[0], parts[1]);
        }
        return given;
    }
}
